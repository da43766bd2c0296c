"""What the room plots says."""

from __future__ import annotations

TITLES = {
    "Bars": "Balken",
    "Curves": "Kurven",
    "Distribution": "Verteilung",
    "Means and extremes": "Mittel und Extreme",
    "Drift of the machine": "Drift der Maschine",
    "Histogram": "Histogramm",
    "Launches": "Läufe",
    "Between pairs of ranks": "Zwischen Paaren von Ranks",
    "Bandwidth per node": "Bandbreite je Knoten",
    "Placements": "Platzierungen",
    "Single ranks": "Einzelne Ranks",
    "Ratios": "Verhältnisse",
    "Scaling with nodes": "Skalierung mit den Knoten",
    "Scaling with ranks": "Skalierung mit den Ranks",
    "Starts": "Starts",
    "State of the machine": "Zustand der Maschine",
    "Winner map": "Karte der Schnellsten",
    "alike": ("gleich"),
    "Letter and colour: the fastest candidate, or where memory was measured the one that needs least. Figure "
    "and strength of colour: how many times as long the next one takes, or as much it needs. Grey: several, "
    "the letters named or all of them; = where they are surely alike, ~ where it is not known. !: no figure "
    "counts.": (
        "Buchstabe und Farbe: der schnellste Kandidat, oder wo Speicher gemessen wurde, der sparsamste. Zahl "
        "und Farbstärke: das Wievielfache an Zeit oder Speicher der nächste braucht. Grau: mehrere, die "
        "genannten Buchstaben oder alle; = wo sie sicher gleich sind, ~ wo es nicht bekannt ist. !: kein Wert "
        "zählt."
    ),
}
HELPS = {
    "Mean over launches of what the tool printed, with a bar from the smallest to the largest launch. Bars that "
    "overlap say little: the verdict is from ratios.": (
        "Mittel über die Läufe von dem, was das Programm ausgab, mit einem Balken vom kleinsten zum größten Lauf. "
        "Balken, die sich überdecken, sagen wenig: Das Urteil kommt aus Verhältnissen."
    ),
    "Typical value (median over launches of each launch's median) from nought on; the thin line is its interval.": (
        "Typischer Wert (Median über die Läufe vom Median jedes Laufs) ab null; die dünne Linie ist sein Intervall."
    ),
    "Typical value (median over launches of each launch's median) with its interval, on logarithmic axes.": (
        "Typischer Wert (Median über die Läufe vom Median jedes Laufs) mit seinem Intervall, auf logarithmischen "
        "Achsen."
    ),
    "Hills: all samples; the height is the square root of the share, so that rare slow calls stay visible. Marks below "
    "each hill: the figure of every launch, and the typical value's interval as a bar. What lies to the right of the "
    "picture is told in words.": (
        "Hügel: alle Messwerte; die Höhe ist die Wurzel des Anteils, damit seltene langsame Aufrufe sichtbar bleiben. "
        "Zeichen unter jedem Hügel: der Wert jedes Laufs, und das Intervall des typischen Werts als Balken. Was rechts "
        "außerhalb des Bildes liegt, steht in Worten da."
    ),
    "Each launch's times over the same candidate's typical times, geometric mean over its cases. All candidates up or "
    "down together: the machine changed. One alone: that library did.": (
        "Zeiten jedes Laufs im Verhältnis zu den typischen Zeiten desselben Kandidaten, geometrisches Mittel über "
        "seine Fälle. Alle Kandidaten gemeinsam auf oder ab: Die Maschine hat sich verändert. Einer allein: Es war "
        "diese Bibliothek."
    ),
    "How many samples took how long; heights are logarithms of counts. Left of the dashed line bins are a whole number "
    "of nanoseconds wide and time runs evenly; right of it time runs by powers of ten, to the slowest one. Triangles "
    "mark modes, 1 the heaviest. A line is a Pareto tail, where one fits. Rows share an axis unless one takes several "
    "times as long.": (
        "Wie viele Messwerte wie lange brauchten; Höhen sind Logarithmen der Anzahlen. Links der gestrichelten Linie "
        "sind die Klassen eine ganze Zahl von Nanosekunden breit, und die Zeit läuft gleichmäßig; rechts davon läuft "
        "sie in Zehnerpotenzen bis zum langsamsten Messwert. Dreiecke kennzeichnen Modi, 1 den schwersten. Eine Linie "
        "ist ein Pareto-Schwanz, wo einer passt. Zeilen haben dieselbe Achse, wenn nicht eine mehrmals so lange "
        "braucht."
    ),
    "The figure of every launch (its median, unless the plan says otherwise), in the order in which launches were "
    "made.": ("Der Wert jedes Laufs (sein Median, wenn der Plan nichts anderes sagt), in der Reihenfolge der Läufe."),
    "Each cell is what was measured from the rank on the left to the rank above it; ranks stand as the machine has "
    "them, hosts, sockets and shared caches marked along the axes and divided by lines. All candidates share one "
    "scale of colours: the darker, the worse. A red frame: a pair that is not like the others that share the same.": (
        "Jede Zelle zeigt, was vom Rank links zum Rank darüber gemessen wurde; die Ranks stehen so, wie die Maschine "
        "sie hat, Hosts, Sockel und gemeinsame Caches sind an den Achsen bezeichnet und durch Linien getrennt. Alle "
        "Kandidaten haben dieselbe Farbskala: je dunkler, desto schlechter. Roter Rahmen: ein Paar, das nicht zu den "
        "anderen passt, die dasselbe gemeinsam haben."
    ),
    "The payload that all ranks send in a call, over its time and the number of nodes. Dotted: every node has what the "
    "fastest has on the fewest nodes above one; who falls below it lets nodes wait for each other.": (
        "Die Nutzdaten, die alle Ranks in einem Aufruf senden, geteilt durch dessen Zeit und die Zahl der Knoten. "
        "Gepunktet: Jeder Knoten hat, was der Schnellste auf den wenigsten Knoten über einem hat; wer darunter fällt, "
        "lässt Knoten aufeinander warten."
    ),
    "The same operation at several placements: typical value with its interval, one panel for each candidate, all with "
    "one vertical axis.": (
        "Dieselbe Operation bei mehreren Platzierungen: typischer Wert mit seinem Intervall, ein Feld je Kandidat, "
        "alle mit derselben senkrechten Achse."
    ),
    "Each rank's bar runs from when it began to when it ended; a thin line goes on to the 90th percentile of ends. "
    "Where the samples of single ranks were not kept: how often each was the last to end; dashed is an even share.": (
        "Der Balken jedes Ranks reicht von seinem Beginn bis zu seinem Ende; eine dünne Linie führt weiter bis zum "
        "90. Perzentil der Enden. Wo die Messwerte einzelner Ranks nicht aufgehoben wurden: wie oft jeder als letzter "
        "fertig war; gestrichelt der gleiche Anteil für alle."
    ),
    "Time, or memory, over that of the plan's first candidate, paired within blocks: above 1 is worse. Hollow: not "
    "distinguishable. The grey strip is the practical threshold.": (
        "Zeit oder Speicher im Verhältnis zum ersten Kandidaten des Plans, innerhalb der Blöcke gepaart: Über 1 ist "
        "schlechter. Hohl: nicht zu unterscheiden. Der graue Streifen ist die praktische Schwelle."
    ),
    "Typical value with its interval over the number of nodes, a panel for each number of ranks on a node; both axes "
    "are logarithmic. A cross at the foot: it failed there. Dotted, of what is per second: all nodes together, if each "
    "kept what the fastest has on the fewest nodes above one.": (
        "Typischer Wert mit seinem Intervall über der Zahl der Knoten, ein Feld je Zahl der Ranks auf einem Knoten; "
        "beide Achsen sind logarithmisch. Ein Kreuz am unteren Rand: dort gescheitert. Gepunktet, bei Werten je "
        "Sekunde: alle Knoten zusammen, wenn jeder behielte, was der Schnellste auf den wenigsten Knoten über einem "
        "hat."
    ),
    "Typical value with its interval over the ranks of all nodes, a panel for each candidate: as many ranks may be "
    "many on few nodes or few on many. A cross at the foot: it failed there.": (
        "Typischer Wert mit seinem Intervall über den Ranks aller Knoten, ein Feld je Kandidat: Gleich viele Ranks "
        "können viele auf wenigen oder wenige auf vielen Knoten sein. Ein Kreuz am unteren Rand: dort gescheitert."
    ),
    "The same case begun in different ways: typical time with its interval. Hollow: clocks agree too badly for "
    "the time to be judged.": (
        "Derselbe Fall auf verschiedene Weise begonnen: typische Zeit mit ihrem Intervall. Hohl: Die Uhren stimmen zu "
        "schlecht überein, um die Zeit zu beurteilen."
    ),
    "The time in which one CPU hands a cache line to another, measured without MPI before and after every launch. "
    "A bar joins the two. Launches of a block are compared where they are at one height. Hollow ones are not: "
    "the machine changed while they ran.": (
        "Die Zeit, in der eine CPU einer anderen eine Cache-Zeile übergibt, ohne MPI vor und nach jedem Lauf gemessen. "
        "Ein Balken verbindet beide. Läufe eines Blocks werden verglichen, wo sie auf einer Höhe stehen. Hohle nicht: "
        "Die Maschine hat sich verändert, während sie liefen."
    ),
}
CIRCUMSTANCES = {
    "{n:count rank} ({place})": "{n:count Rank|Ranks} ({place})",
    "start: {names}": "Start: {names}",
    "{setting}, no launch that counts": "{setting}, kein Lauf, der zählt",
    "{least} to {most} launches": "{least} bis {most} Läufe",
    "{n:count launch}": "{n:count Lauf|Läufe}",
    "{launches} each": "je {launches}",
    "{launches} each by its {estimator}": "je {launches}, jeder nach {estimator}",
    "intervals of {percent:.3g} % or more": "Intervalle mit mindestens {percent:.3g} %",
    "{percent:g} % intervals": "Intervalle mit {percent:g} %",
    "too few for intervals": "zu wenige für Intervalle",
    "with MPIPerf's {confidence:.0%} interval of the samples within it, not of the next launch": (
        "mit MPIPerfs {confidence:.0%}-Intervall der Messwerte darin, nicht des nächsten Laufs"
    ),
    "{n} starts": "{n} Starts",
    "; ranks in their own order, since launches placed {who} differently": (
        "; Ranks in ihrer eigenen Reihenfolge, weil {who} nicht in allen Läufen am selben Platz saßen"
    ),
    "; ranks in their own order": "; Ranks in ihrer eigenen Reihenfolge",
}
CHARTS = {
    "{case}: {what} by nodes": "{case}: {what} nach Knoten",
    "{case}: {what} by ranks": "{case}: {what} nach Ranks",
    "{case}: all {total} samples and every launch": "{case}: alle {total} Messwerte und jeder Lauf",
    "up to {most} →": "bis {most} →",
    "How fast the machine was during each launch": "Wie schnell die Maschine während jedes Laufs war",
    "1 is each candidate's typical time; mean over {count} cases": (
        "1 ist die typische Zeit jedes Kandidaten; Mittel über {count} Fälle"
    ),
    "{case}: histogram of {total} samples, {bins}": "{case}: Histogramm von {total} Messwerten, {bins}",
    "bins of {width} ns": "Klassen von {width} ns",
    "bins of {least} to {most} ns": "Klassen von {least} bis {most} ns",
    "{title}, {n} rows are left out": "{title}, {n} Zeilen sind ausgelassen",
    "{name}, ring of rank {rank}": "{name}, Ring von Rank {rank}",
    "{name}: {middle:time} in the middle, slowest {slowest:time}": (
        "{name}: in der Mitte {middle:time}, am langsamsten {slowest:time}"
    ),
    "main at {place:time}": "Hauptmodus bei {place:time}",
    " of samples": " der Messwerte",
    "{name}: {heading}, mean and extremes": "{name}: {heading}, Mittel und Extreme",
    "bars: smallest to largest": "Balken: kleinster bis größter",
    "{case}: launches in order of time": "{case}: Läufe in zeitlicher Reihenfolge",
    "{case}: {what} between pairs of ranks": "{case}: {what} zwischen Paaren von Ranks",
    "from {first} to {second}": "von {first} nach {second}",
    "from ↓ to →": "von ↓ nach →",
    "{line}: {what} by placement": "{line}: {what} nach Platzierung",
    "{case}: how often each rank was the last": "{case}: wie oft jeder Rank der letzte war",
    "{case}: from beginning to end of each rank": "{case}: von Beginn bis Ende jedes Ranks",
    "{share:.0%} of {n} samples": "{share:.0%} von {n} Messwerten",
    "{late:time} late, 90 % within {p90:time}": "{late:time} verspätet, 90 % innerhalb von {p90:time}",
    "after {end:time}, 90 % within {p90:time}": "nach {end:time}, 90 % innerhalb von {p90:time}",
    "{line}: time relative to {base}": "{line}: Zeit im Verhältnis zu {base}",
    "{line}: memory relative to {base}": "{line}: Speicher im Verhältnis zu {base}",
    "{fate} from {first} nodes on": "ab {first} Knoten {fate}",
    "{fate} from {first} ranks on": "ab {first} Ranks {fate}",
    "{n:count node}": "{n:count Knoten|Knoten}",
    "{n:count node}, more ranks than cores": "{n:count Knoten|Knoten}, mehr Ranks als Kerne",
    "{case}: time by start": "{case}: Zeit nach Start",
    "State of the machine during each launch, measured without MPI": (
        "Zustand der Maschine während jedes Laufs, ohne MPI gemessen"
    ),
    "geometric mean over {n} pairs of CPUs": "geometrisches Mittel über {n} Paare von CPUs",
    "between CPUs {one} and {two}": "zwischen den CPUs {one} und {two}",
    "Fastest candidate by operation and message size": "Schnellster Kandidat nach Operation und Nachrichtengröße",
    "Best candidate by operation and message size": "Bester Kandidat nach Operation und Nachrichtengröße",
    "none: no candidate has a figure that counts": "keiner: Kein Kandidat hat einen Wert, der zählt",
    "not known": "nicht bekannt",
    "unknown": "unbekannt",
    "failed": "gescheitert",
    "to": "bis",
    "socket": "Sockel",
    "NUMA node": "NUMA-Knoten",
    "core": "Kern",
    "{low} to {high}": "{low} bis {high}",
    "{low:time} to {high:time}": "{low:time} bis {high:time}",
    "{low:ratio} to {high:ratio}": "{low:ratio} bis {high:ratio}",
    "{n} of {all}": "{n} von {all}",
}
AXES = {
    "nodes": "Knoten",
    "ranks of all nodes": "Ranks aller Knoten",
    "rank": "Rank",
    "time": "Zeit",
    "time per call": "Zeit je Aufruf",
    "latency (half a round trip)": "Latenz (halber Hin- und Rückweg)",
    "message size": "Nachrichtengröße",
    "launch, in order of time": "Lauf, in zeitlicher Reihenfolge",
    "time / typical time": "Zeit / typische Zeit",
    "figure of a launch": "Wert eines Laufs",
    "after the common start": "nach dem gemeinsamen Start",
    "after its own beginning": "nach dem eigenen Beginn",
    "was the last to end": "war als letzter fertig",
    "memory / memory of {base}": "Speicher / Speicher von {base}",
    "time / time of {base}": "Zeit / Zeit von {base}",
    "exchange of a cache line": "Austausch einer Cache-Zeile",
}
TOOLTIPS = {
    "candidate": "Kandidat",
    "launch": "Lauf",
    "place": "Stelle",
    "fate": "Ausgang",
    "typical": "typisch",
    "interval": "Intervall",
    "launches": "Läufe",
    "samples": "Messwerte",
    "figure": "Wert",
    "share of samples": "Anteil der Messwerte",
    "speed": "Verhältnis",
    "bin": "Klasse",
    "count": "Anzahl",
    "pair": "Paar",
    "seats": "Plätze",
    "share": "gemeinsam",
    "group": "Gruppe",
    "began": "begann",
    "ended": "endete",
    "last": "zuletzt",
    "size": "Größe",
    "ratio": "Verhältnis",
    "blocks": "Blöcke",
    "adjusted p": "angepasstes p",
    "start": "Start",
    "ranks began apart": "Abstand der Anfänge",
    "block": "Block",
    "before": "davor",
    "after": "danach",
    "case": "Fall",
    "winner": "Schnellster",
    "margin": "Abstand",
    "placement": "Platzierung",
}
WORDS = {**TITLES, **HELPS, **CIRCUMSTANCES, **CHARTS, **AXES, **TOOLTIPS}
