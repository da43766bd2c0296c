"""What the room report says: the page and its scripts, tables, text."""

from __future__ import annotations

PARTS = {
    "Skip to the verdict": "Zum Urteil springen",
    "Sections": "Abschnitte",
    "Winners": "Schnellste",
    "Findings": "Befunde",
    "Alike": "Ähnliche",
    "One case": "Ein Fall",
    "Tables": "Tabellen",
    "Overlap": "Überlappung",
    "Scaling": "Skalierung",
    "Pairs": "Paare",
    "Rings": "Ringe",
    "Ranks": "Ranks",
    "Failures": "Ausfälle",
    "Provenance": "Herkunft",
    "Method": "Verfahren",
    "Reproduce": "Wiederholen",
    "Dark theme": "Dunkle Ansicht",
    "Light theme": "Helle Ansicht",
    "Key figures": "Kennzahlen",
    "Legend": "Legende",
    "Note.": "Hinweis.",
    "Evidence:": "Belege:",
    "and {n} more": "und {n} weitere",
    "note": "Hinweis",
    "warning": "Warnung",
    "failure": "Ausfall",
    "What to do:": "Was tun:",
    "Like it:": "Ähnlich:",
    "Like it: {members}.": "Ähnlich: {members}.",
    "Like no other:": "Keiner anderen ähnlich:",
    "Message size": "Nachrichtengröße",
    "{name}, message size": "{name}, Nachrichtengröße",
    "Shown: {name}": "Gezeigt: {name}",
    "{n:count case}": "{n:count Fall|Fälle}",
    "It wrote nothing.": "Er hat nichts geschrieben.",
    "Launch {n}, {candidate}: {status}": "Lauf {n}, {candidate}: {status}",
    "nothing": "nichts",
    "Receipts": "Quittungen",
    "what each build was made of": "woraus jeder Bau besteht",
    "wrapper   {path}": "Wrapper   {path}",
    "compiler  {name}": "Compiler  {name}",
    "flags     {flags}": "Optionen  {flags}",
    "linked    {path}": "gebunden  {path}",
    "missing   {calls}": "fehlend   {calls}",
    "core      {digest}": "Kern      {digest}",
    "binary    {digest}": "Programm  {digest}",
}
HEADINGS = {
    "Who is fastest where": "Wer wo am schnellsten ist",
    "What else is worth knowing": "Was sonst wissenswert ist",
    "Curves that look alike": "Kurven, die sich ähneln",
    "One case, seen closely": "Ein Fall, aus der Nähe",
    "Every curve": "Alle Kurven",
    "How much of a communication computation hides": "Wie viel einer Kommunikation hinter Rechnen verschwindet",
    "What the placement does": "Was die Platzierung ausmacht",
    "How it scales with nodes and ranks": "Wie es mit Knoten und Ranks skaliert",
    "Rings, and what a hop costs": "Ringe, und was ein Schritt kostet",
    "What each start does to the same case": "Was jeder Start an demselben Fall ausmacht",
    "What failed, and why": "Was gescheitert ist, und warum",
    "Where the figures come from": "Woher die Werte kommen",
    "How it was measured": "Wie gemessen wurde",
    "Do it again": "Noch einmal messen",
}
FILTERS = {
    "Filters": "Filter",
    "Placement": "Platzierung",
    "Kind": "Art",
    "Operation": "Operation",
    "Candidate": "Kandidat",
    "Size": "Größe",
    "all": "alle",
    "any": "beliebig",
    "from": "von",
    "most": "Maximum",
    "part of its name": "Teil ihres Namens",
    "only where candidates differ": "nur wo Kandidaten sich unterscheiden",
    "Clear": "Zurücksetzen",
    "kind": "Art",
    "text": "Name",
    "differ": "unterscheiden sich",
    "Fastest candidate by operation and message size, {place}": (
        "Schnellster Kandidat nach Operation und Nachrichtengröße, {place}"
    ),
    "is fastest": "ist am schnellsten",
    "is beaten": "ist geschlagen",
    "not {name}": "nicht {name}",
    "{shown} of {cases} cases, {told} of {lines} operations, {findings} of {all} findings": (
        "{shown} von {cases} Fällen, {told} von {lines} Operationen, {findings} von {all} Befunden"
    ),
    "{shown} of {cases} cases, {told} of {lines} operations": (
        "{shown} von {cases} Fällen, {told} von {lines} Operationen"
    ),
    "Only a part of the campaign ({chosen}): {shown} of {cases} cases.": (
        "Nur ein Teil der Kampagne ({chosen}): {shown} von {cases} Fällen."
    ),
    "Filters hold for the winner map, findings, groups, curves and tables; they are part of this page's address.": (
        "Filter gelten für die Karte der Schnellsten, Befunde, Gruppen, Kurven und Tabellen; sie sind Teil der Adresse "
        "dieser Seite."
    ),
    "No case passes the filters.": "Kein Fall passt zu den Filtern.",
    "No finding rests on a case that passes the filters.": (
        "Kein Befund stützt sich auf einen Fall, der zu den Filtern passt."
    ),
    "No curve passes the filters.": "Keine Kurve passt zu den Filtern.",
    "Nothing of this rests on a case that passes the filters.": (
        "Nichts hiervon stützt sich auf einen Fall, der zu den Filtern passt."
    ),
    "No table has a case that passes the filters.": "Keine Tabelle hat einen Fall, der zu den Filtern passt.",
    "{n} more tables pass the filters and are not printed.": (
        "{n} weitere Tabellen passen zu den Filtern und werden nicht gedruckt."
    ),
    "{n} more curves pass the filters and are not printed.": (
        "{n} weitere Kurven passen zu den Filtern und werden nicht gedruckt."
    ),
}
HINTS = {
    "<strong>This browser is too old</strong> to unpack charts and tables. A newer one shows them; so does "
    "<code>rankbench report --figures svg --markdown --csv</code>.": (
        "<strong>Dieser Browser ist zu alt</strong>, um Diagramme und Tabellen auszupacken. Ein neuerer zeigt sie, "
        "ebenso <code>rankbench report --figures svg --markdown --csv</code>."
    ),
    "Choose a cell to see its curve and its distribution; arrow keys move, Enter chooses. The same figures stand in "
    'the <a href="#tables">tables</a>.': (
        "Eine gewählte Zelle zeigt ihre Kurve und ihre Verteilung; Pfeiltasten bewegen, die Eingabetaste wählt. "
        'Dieselben Werte stehen in den <a href="#tables">Tabellen</a>.'
    ),
    "Operations whose curves have the same shape and the same winners. One of each group is shown; the others look "
    "like it.": (
        "Operationen, deren Kurven dieselbe Form und dieselben Schnellsten haben. Eine jeder Gruppe ist gezeigt, die "
        "anderen sehen ihr ähnlich."
    ),
    "Histograms and single ranks are drawn of cases that a sentence, a finding or a group names first: of all they "
    "would fill the page.": (
        "Histogramme und einzelne Ranks sind von den Fällen gezeichnet, die ein Satz, ein Befund oder eine Gruppe "
        "zuerst nennt: Von allen füllten sie die Seite."
    ),
    "Histograms are drawn of cases that a sentence, a finding or a group names first: of all they would fill the "
    "page.": (
        "Histogramme sind von den Fällen gezeichnet, die ein Satz, ein Befund oder eine Gruppe zuerst nennt: Von allen "
        "füllten sie die Seite."
    ),
    "<code>rankbench show --ranks</code> tells of every case.": (
        "<code>rankbench show --ranks</code> berichtet von jedem Fall."
    ),
    "Bars: what has one value only.": "Balken: was nur einen Wert hat.",
    "Typical value, and below it its interval. Bold: fastest, or not distinguishable from the fastest. ~ joins those "
    "that cannot be told apart.": (
        "Typischer Wert, darunter sein Intervall. Fett: am schnellsten oder nicht vom Schnellsten zu unterscheiden. "
        "~ verbindet die, die sich nicht unterscheiden lassen."
    ),
    "Overlap is 1 - (overall - computation) / communication: the share of the communication that goes on while ranks "
    "compute. All are medians over launches of the launch's median.": (
        "Überlappung ist 1 - (insgesamt - Rechnen) / Kommunikation: der Anteil der Kommunikation, der abläuft, während "
        "Ranks rechnen. Alle Werte sind Mediane über die Läufe vom Median des Laufs."
    ),
    "Typical value, then the ratio of times to the first placement, paired within blocks; ~: cannot be told apart. "
    "Below: the interval, and the least and the largest figure of any launch.": (
        "Typischer Wert, dann das Verhältnis der Zeiten zur ersten Platzierung, innerhalb der Blöcke gepaart; ~: nicht "
        "zu unterscheiden. Darunter: das Intervall, und der kleinste und der größte Wert eines Laufs."
    ),
    "Nodes x ranks on each. Typical value, and below it its interval; bold: fastest, or not distinguishable from the "
    "fastest, at this place. With more ranks than cores, waiting is measured, and figures say nothing of the others.": (
        "Knoten x Ranks auf jedem. Typischer Wert, darunter sein Intervall; fett: hier am schnellsten oder nicht vom "
        "Schnellsten zu unterscheiden. Bei mehr Ranks als Kernen wird das Warten gemessen, und die Werte sagen nichts "
        "über die anderen."
    ),
    "Of several sizes the middle one is shown; <code>rankbench show --scaling --size</code> shows others.": (
        "Von mehreren Größen ist die mittlere gezeigt; <code>rankbench show --scaling --size</code> zeigt andere."
    ),
    "Choose a cell to see its distribution.": "Eine gewählte Zelle zeigt ihre Verteilung.",
    "Each ring is timed by its first rank, at the edge of the grid. The median is that over launches of each launch's "
    "median, with its interval; min, mean and percentiles are over all samples. What one more hop costs is the slope "
    "of the round time over the number of hops, block by block, with Student's interval over blocks.": (
        "Jeder Ring wird von seinem ersten Rank gemessen, am Rand des Gitters. Der Median ist der über die Läufe vom "
        "Median jedes Laufs, mit seinem Intervall; Minimum, Mittelwert und Perzentile gehen über alle Messwerte. Was "
        "ein weiterer Schritt kostet, ist die Steigung der Umlaufzeit über der Zahl der Schritte, Block für Block, mit "
        "Students Intervall über die Blöcke."
    ),
    "Choose a grid to see its histograms.": "Ein gewähltes Gitter zeigt seine Histogramme.",
    "Ratios are paired within blocks. ~: cannot be told from the usual start. Below each: the time, how far apart "
    "ranks began as measured on the synchronised clock (median and 90th percentile), and the share of samples that "
    "were discarded.": (
        "Verhältnisse sind innerhalb der Blöcke gepaart. ~: nicht vom üblichen Start zu unterscheiden. Darunter: die "
        "Zeit, wie weit auseinander Ranks nach der synchronisierten Uhr begannen (Median und 90. Perzentil), und der "
        "Anteil verworfener Messwerte."
    ),
    "In what share of the samples a rank was the last to end. One that is always the last has more to do in the "
    "algorithm, or a worse place; an even share tells of neither. Where the plan keeps every rank's samples "
    "(<code>every_rank = true</code>), also when each began and ended: medians over launches.": (
        "In welchem Anteil der Messwerte ein Rank als letzter fertig war. Einer, der es immer ist, hat im Algorithmus "
        "mehr zu tun oder einen schlechteren Platz; gleiche Anteile sprechen für keines von beiden. Wo der Plan die "
        "Messwerte aller Ranks aufhebt (<code>every_rank = true</code>), auch wann jeder begann und endete: Mediane "
        "über die Läufe."
    ),
    "Cases with another start are shown by <code>rankbench show --ranks</code>.": (
        "Fälle mit anderem Start zeigt <code>rankbench show --ranks</code>."
    ),
}
METHOD = {
    "{host}: {cpu}, {sockets:count socket}, {cores} cores, {memory} of memory, {distribution}, kernel {kernel}, "
    "{virtual}. Starts in use: {starts}.": (
        "{host}: {cpu}, {sockets:count Sockel|Sockel}, {cores} Kerne, {memory} Speicher, {distribution}, Kernel "
        "{kernel}, {virtual}. Benutzte Starts: {starts}."
    ),
    "virtual ({name})": "virtuell ({name})",
    "not virtual": "nicht virtuell",
    "<strong>Interleaved launches.</strong> One launch is one <code>mpiexec</code>. A block launches every candidate "
    "once, in an order drawn from a recorded seed, so that a machine that changes with time changes for all of them. "
    "There were {n} blocks.": (
        "<strong>Verschränkte Läufe.</strong> Ein Lauf ist ein <code>mpiexec</code>. Ein Block startet jeden "
        "Kandidaten einmal, in einer Reihenfolge, die mit einem aufgezeichneten Startwert ausgelost ist, damit eine "
        "Maschine, die sich mit der Zeit verändert, sich für alle verändert. Zahl der Blöcke: {n}."
    ),
    "<strong>Samples.</strong> Every sample is one timed call and is kept. Those whose start some rank missed are "
    "discarded. How ranks begin together:": (
        "<strong>Messwerte.</strong> Jeder Messwert ist ein gemessener Aufruf und wird aufgehoben. Verworfen werden "
        "die, deren Start ein Rank verpasst hat. Wie Ranks gemeinsam beginnen:"
    ),
    "<strong>Certain starts.</strong> How far apart ranks were seen to begin is known, and part of the time. How far "
    "their clocks may disagree is not: where that is more than 5 % of the time of a call, the figure is shown with a "
    "question mark and takes part in no comparison.": (
        "<strong>Sichere Starts.</strong> Wie weit auseinander Ranks begannen, ist bekannt und Teil der Zeit. Wie weit "
        "ihre Uhren voneinander abweichen, ist es nicht: Wo das mehr als 5 % der Zeit eines Aufrufs sind, steht der "
        "Wert mit einem Fragezeichen da und nimmt an keinem Vergleich teil."
    ),
    " (the mean of what is left when a quarter of the samples is dropped at each end, as MPIPerf has it)": (
        " (der Mittelwert dessen, was bleibt, wenn an jedem Ende ein Viertel der Messwerte wegfällt, wie bei MPIPerf)"
    ),
    "<strong>Typical value.</strong> The median over launches of each launch's {estimator}{meant}, with its interval "
    "of {percent:g} %. The launch is the unit of replication: samples of one launch resemble each other more than they "
    "resemble the next launch's.": (
        "<strong>Typischer Wert.</strong> Jeder Lauf ergibt einen Wert: {estimator}{meant}. Der Median dieser Werte "
        "ist der typische Wert, mit seinem Intervall von {percent:g} %. Der Lauf ist die Einheit der Wiederholung: "
        "Messwerte eines Laufs gleichen einander mehr als denen des nächsten."
    ),
    "<strong>Comparison.</strong> Candidates are compared by the ratio of their times paired within blocks. Because "
    "many cases are compared at once, p-values are adjusted (Benjamini and Hochberg). Differences below {percent:g} % "
    "are not told. What cannot be distinguished is <strong>~</strong>.": (
        "<strong>Vergleich.</strong> Kandidaten werden über das Verhältnis ihrer Zeiten verglichen, innerhalb der "
        "Blöcke gepaart. Weil viele Fälle zugleich verglichen werden, sind p-Werte angepasst (Benjamini und Hochberg). "
        "Unterschiede unter {percent:g} % werden nicht genannt. Was sich nicht unterscheiden lässt, ist "
        "<strong>~</strong>."
    ),
    "<strong>A/A control.</strong> The first candidate takes part a second time under another name. How often this "
    "pair looks different, {alarms} times here, is how often this machine deceives.": (
        "<strong>A/A-Kontrolle.</strong> Der erste Kandidat nimmt unter anderem Namen ein zweites Mal teil. Wie oft "
        "dieses Paar verschieden aussieht, hier {alarms} Mal, so oft täuscht diese Maschine."
    ),
    "Save this as <code>plan.toml</code>; rankbench {version} then repeats the campaign with the same order of "
    "launches.": (
        "Dies als <code>plan.toml</code> speichern; rankbench {version} wiederholt damit die Kampagne mit derselben "
        "Reihenfolge der Läufe."
    ),
    "Made by rankbench {version}. This file is complete: it asks no network for anything.": (
        "Erstellt von rankbench {version}. Diese Datei ist vollständig: Sie braucht kein Netz."
    ),
    "Charts and tables are drawn by this page's own script. Without it, <code>rankbench report --csv --markdown</code> "
    "writes the same figures.": (
        "Diagramme und Tabellen zeichnet das Skript dieser Seite. Ohne es schreibt <code>rankbench report --csv "
        "--markdown</code> dieselben Werte."
    ),
    "after a dissemination barrier of our own; ranks leave it at different moments": (
        "nach einer eigenen Dissemination-Barriere; Ranks verlassen sie zu verschiedenen Zeitpunkten"
    ),
    "after the library's own barrier, as most benchmarks do; how ranks leave it differs from library to library": (
        "nach der Barriere der Bibliothek, wie bei den meisten Benchmarks; wie Ranks sie verlassen, ist von Bibliothek "
        "zu Bibliothek verschieden"
    ),
    "one call after the other; where all ranks measure, a sample is the mean of a loop": (
        "ein Aufruf nach dem anderen; wo alle Ranks messen, ist ein Messwert das Mittel einer Schleife"
    ),
    "the next start is agreed on in every round, on the synchronised clock; late starts are discarded": (
        "der nächste Start wird in jeder Runde vereinbart, auf der synchronisierten Uhr; verspätete Starts werden "
        "verworfen"
    ),
    "at agreed times on the synchronised clock, one window apart; late starts are discarded": (
        "zu vereinbarten Zeiten auf der synchronisierten Uhr, je ein Fenster auseinander; verspätete Starts werden "
        "verworfen"
    ),
    "windows by the rules of MPIPerf: late starts and rounds that outlast their window are discarded": (
        "Fenster nach den Regeln von MPIPerf: Verspätete Starts und Runden, die ihr Fenster überschreiten, werden "
        "verworfen"
    ),
}
FIGURES = {
    "candidates": "Kandidaten",
    "cases": "Fälle",
    "A/A false alarms": "falsche A/A-Alarme",
    "no control": "keine Kontrolle",
    "less measured than in {n} full blocks": "weniger gemessen als in {n} vollen Blöcken",
    "late starts discarded": "verspätete Starts verworfen",
    "overran their window, discarded": "über das Fenster hinaus, verworfen",
    "overran their window, kept": "über das Fenster hinaus, behalten",
}
NAMES = {
    "collective": "kollektiv",
    "local": "lokal",
    "neighbourhood": "Nachbarschaft",
    "one-sided": "einseitig",
    "point-to-point": "Punkt zu Punkt",
    "process": "Prozesse",
    "self-test": "Selbsttest",
    "crashed": "abgestürzt",
    "hung": "hängengeblieben",
    "refused": "abgelehnt",
    "lacking": "fehlt",
    "wrong-data": "falsche Daten",
    "not-as-asked": "nicht wie verlangt",
    "not-run": "nicht gelaufen",
    "not run": "nicht gelaufen",
    "start too uncertain": "Start zu unsicher",
    "trimmed-mean": "getrimmtes Mittel",
}
TABLES = {
    "Cases without figures, or with fewer": "Fälle ohne Werte oder mit weniger Werten",
    "Candidates": "Kandidaten",
    "Where ranks ran": "Wo Ranks liefen",
    "Time": "Zeit",
    "A/A pairs that looked different": "A/A-Paare, die verschieden aussahen",
    "{case}, {candidate}: {what} from rank to rank": "{case}, {candidate}: {what} von Rank zu Rank",
    "{case}: {what} by what two ranks share": "{case}: {what} nach dem, was zwei Ranks gemeinsam haben",
    "{line}: overlap of communication and computation": "{line}: Überlappung von Kommunikation und Rechnen",
    "{line}, {candidate}: {what} by placement": "{line}, {candidate}: {what} nach Platzierung",
    "{line}: which rank was the last to end, start: {start}": (
        "{line}: welcher Rank als letzter fertig war, Start: {start}"
    ),
    "{line}: single ranks, start: {start}": "{line}: einzelne Ranks, Start: {start}",
    "{name} by direction and grid": "{name} nach Richtung und Gitter",
    "{name} by edge rank and grid": "{name} nach Rank am Rand und Gitter",
    "{name}: shapes of the distributions, of the slowest ring of each round": (
        "{name}: Form der Verteilungen, vom langsamsten Ring jeder Runde"
    ),
    "{name}: what one more hop costs": "{name}: was ein weiterer Schritt kostet",
    "{name}: ranks by place, row by row": "{name}: Ranks nach Platz, Zeile für Zeile",
    "{case}: {what} by nodes and ranks on each": "{case}: {what} nach Knoten und Ranks auf jedem",
    "{line}: time by start, as a ratio to that with start {usual}": (
        "{line}: Zeit nach Start, im Verhältnis zu der mit Start {usual}"
    ),
}
COLUMNS = {
    "fastest": "am schnellsten",
    "least": "Minimum",
    "what happened": "was geschah",
    "library": "Bibliothek",
    "says of itself": "sagt von sich",
    "compiler": "Compiler",
    "settings": "Einstellungen",
    "rank: host and CPU": "Rank: Host und CPU",
    "MPI library": "MPI-Bibliothek",
    "source": "Quelle",
    "resolution": "Auflösung",
    "cost of a reading": "Kosten einer Ablesung",
    "clocks of the ranks": "Uhren der Ranks",
    "pairs of ranks": "Paare von Ranks",
    "number": "Anzahl",
    "time, as a ratio to the first": "Zeit, im Verhältnis zur ersten",
    "to {rank}": "nach {rank}",
    "a digit for each rank in this order, from 0 ({low}) to 9 ({high})": (
        "eine Ziffer je Rank in dieser Reihenfolge, von 0 ({low}) bis 9 ({high})"
    ),
    "overall": "insgesamt",
    "computation alone": "Rechnen allein",
    "communication alone": "Kommunikation allein",
    "overlap": "Überlappung",
    "host": "Host",
    "CPU": "CPU",
    "ends after": "endet nach",
    "p90": "p90",
    "begins late by": "beginnt verspätet um",
    "grid": "Gitter",
    "hops": "Schritte",
    "direction": "Richtung",
    "ring of rank": "Ring von Rank",
    "median": "Median",
    "its interval": "sein Intervall",
    "min": "Minimum",
    "mean": "Mittelwert",
    "p10": "p10",
    "p99": "p99",
    "max": "Maximum",
    "discarded": "verworfen",
    "where": "wo",
    "cost of a hop": "Kosten eines Schritts",
    "places": "Plätze",
    "modes": "Modi",
    "tail": "Schwanz",
    "standard deviation": "Standardabweichung",
    "nodes x ranks": "Knoten x Ranks",
    "ranks": "Ranks",
}
CELLS = {
    "not measured": "nicht gemessen",
    "one launch": "ein Lauf",
    "one launch: {interval} within it": "ein Lauf: {interval} darin",
    "{interval}; the first use added {growth:memory}": "{interval}; die erste Benutzung brachte {growth:memory} hinzu",
    "no interval": "kein Intervall",
    "{interval}; launches {launches}": "{interval}; Läufe {launches}",
    "{status} in {count} of {all} launches": "{status} in {count} von {all} Läufen",
    "not judged: {doubt}": "nicht beurteilt: {doubt}",
    "not judged: at worst {doubt}": "nicht beurteilt: schlimmstenfalls {doubt}",
    "start {start}": "Start {start}",
    "at {placement}": "auf {placement}",
    "{names} and {n} more": "{names} und {n} weitere",
    "A/A twin of {name}": "A/A-Zwilling von {name}",
    "none": "keine",
    "{rank}: {host} cpu {cpu} of {cpus}": "{rank}: {host} CPU {cpu} von {cpus}",
    "{n}, synchronised by {how}": "{n}, synchronisiert durch {how}",
    "one, nothing to synchronise": "eine, nichts zu synchronisieren",
    "{step:ratio} the time from digit to digit": "{step:ratio} so lange von Ziffer zu Ziffer",
    "rank {rank}: {share:.0%}": "Rank {rank}: {share:.0%}",
    "{n} others: {share:.0%}": "{n} andere: {share:.0%}",
    "between nodes": "zwischen Knoten",
    "inside a node": "innerhalb eines Knotens",
    "{told}; more ranks than the {cores} cores of a node: waiting is measured": (
        "{told}; mehr Ranks als die {cores} Kerne eines Knotens: gemessen wird das Warten"
    ),
    "; more ranks than cores: waiting is measured": "; mehr Ranks als Kerne: gemessen wird das Warten",
    "ranks {order}": "Ranks {order}",
    "each rank its own": "jeder Rank seinen eigenen",
    "one block": "ein Block",
    "one": "einer",
    "too few samples": "zu wenige Messwerte",
    "{share:.1%} discarded": "{share:.1%} verworfen",
    "ranks {skew:time} apart (p90 {p90:time})": "Ranks {skew:time} auseinander (p90 {p90:time})",
    "{least} to {most}": "{least} bis {most}",
}
OVER_TIME = {
    "{new} ({new_date}) over {old} ({old_date}): times of unpaired launches": (
        "{new} ({new_date}) im Verhältnis zu {old} ({old_date}): Zeiten ungepaarter Läufe"
    ),
    "A ratio above 1: slower now; {same}: no change above {percent:g} % can be told.": (
        "Ein Verhältnis über 1: jetzt langsamer; {same}: keine Änderung über {percent:g} % zu erkennen."
    ),
    "{new} against {old} ({why})": "{new} gegen {old} ({why})",
    "the same name": "derselbe Name",
    "the same family": "dieselbe Familie",
    "as asked": "wie verlangt",
    "Matched: {pairs}.": "Zugeordnet: {pairs}.",
    "nobody": "niemand",
    "then": "damals",
    "now": "jetzt",
    "p": "p",
    "first": "zuerst",
    "last / first": "zuletzt / zuerst",
    "history": "Verlauf",
    "campaign": "Kampagne",
    "date": "Datum",
    "made of": "besteht aus",
    "campaign, in order of time": "Kampagne, in zeitlicher Reihenfolge",
    "its record has nothing new": "ihre Aufzeichnung hat nichts Neues",
    "{n} campaigns, {first} ({begun}) to {last} ({ended})": "{n} Kampagnen, {first} ({begun}) bis {last} ({ended})",
    "{case}, {candidate}: {change} since {date} (campaign {name}: {why})": (
        "{case}, {candidate}: {change} seit {date} (Kampagne {name}: {why})"
    ),
    "{estimator} of each launch, median over {several} launches of a campaign, with its interval": (
        "{estimator} jedes Laufs, Median über {several} Läufe einer Kampagne, mit seinem Intervall"
    ),
    "{case}: {what} over {n} campaigns": "{case}: {what} über {n} Kampagnen",
    "{factor} slower": "{factor} langsamer",
    "{factor} faster": "{factor} schneller",
    "{factor} more memory": "{factor} mehr Speicher",
    "{factor} less memory": "{factor} weniger Speicher",
}
IMPORTED = {
    "Files that were imported": "Eingelesene Dateien",
    "These figures were imported: rankbench did not make them, and knows of their runs what their files tell.": (
        "Diese Zahlen wurden eingelesen: rankbench hat sie nicht gemessen und weiß von ihren Läufen, was ihre Dateien "
        "sagen."
    ),
    "What the numbers of other programs mean": "Was die Zahlen anderer Programme bedeuten",
    "as the core's": "entspricht im Messkern",
    "benchmark": "Benchmark",
    "data": "Daten",
    "file": "Datei",
    "found": "gefunden",
    "imported from {n:count file}": "eingelesen aus {n:count Datei|Dateien}",
    "printed by": "ausgegeben von",
    "tells of itself": "sagt über sich",
    "what its number is": "was seine Zahl ist",
    "checked": "geprüft",
    "not checked": "nicht geprüft",
}
WORDS = {
    **IMPORTED,
    **PARTS,
    **HEADINGS,
    **FILTERS,
    **HINTS,
    **METHOD,
    **FIGURES,
    **NAMES,
    **TABLES,
    **COLUMNS,
    **CELLS,
    **OVER_TIME,
}
