"""What the rooms verdict and statistics say."""

from __future__ import annotations

HELPERS = {
    "{title} between pairs of ranks": "{title} zwischen Paaren von Ranks",
    "{call} at {placement}": "{call} auf {placement}",
    "{call} with start {start}": "{call} mit Start {start}",
    "{what} at {size:size}": "{what} bei {size:size}",
    "{what} from {first:size} to {last:size}": "{what} von {first:size} bis {last:size}",
}
CONCLUSION = {
    "No two candidates have figures for the same case, so there is nothing to compare.": (
        "Für keinen Fall haben zwei Kandidaten Werte, es gibt also nichts zu vergleichen."
    ),
    "{best} needs least memory in {n} of {all:count case}; against it, {others:and} ({names:of geometric "
    "mean|geometric means}).": (
        "{best} braucht in {n} von {all:count Fall|Fällen} am wenigsten Speicher; im Verhältnis dazu {others:and} "
        "({names:of geometrisches Mittel|geometrische Mittel})."
    ),
    "{name} needs {mean:ratio}": "{name} {mean:ratio}",
    "{names:and} {n:of is the one|are the ones} to use: {front}.": (
        "{names:and} {n:of ist|sind} die beste Wahl: {front}."
    ),
    "No candidate leads throughout; {names:and} most often: {front}.": (
        "Kein Kandidat liegt durchweg vorn, am häufigsten {names:and}: {front}."
    ),
    "Two measures name different candidates. By single cases, {names:and} {n:of leads|lead}: {front}. Over all cases, "
    "{rival} does: it takes {mean:ratio} the time of {best} (geometric mean of {cases:count case})": (
        "Zwei Maße nennen verschiedene Kandidaten. Nach einzelnen Fällen {n:of führt|führen} {names:and}: {front}. "
        "Über alle Fälle führt {rival}, mit {mean:ratio} der Zeit von {best} (geometrisches Mittel über "
        "{cases:count Fall|Fälle})"
    ),
    "{told}, less in {n} of {all:count block}": "{told}, weniger in {n} von {all:count Block|Blöcken}",
    "Of these cases, {rival} is ahead in {n}, by {margin:ratio}": (
        "Von diesen Fällen liegt {rival} in {n} vorn, um {margin:ratio}"
    ),
    "{told}, and {best} in {n}, by {margin:ratio} (geometric means)": (
        "{told}, und {best} in {n}, um {margin:ratio} (geometrische Mittel)"
    ),
    "{told}; in {n} of them the two cannot be told apart": "{told}; in {n} davon sind beide nicht zu unterscheiden",
    "{told}. Which of the two to use depends on the calls that an application makes.": (
        "{told}. Welcher von beiden die bessere Wahl ist, hängt davon ab, welche Aufrufe eine Anwendung macht."
    ),
    "fastest alone in {n} of {all:count case}": "allein am schnellsten in {n} von {all:count Fall|Fällen}",
    "{name} takes {mean:ratio} as long as {best} (geometric mean of {n:count case}; no interval from so few "
    "launches)": (
        "{name} braucht {mean:ratio} so lange wie {best} (geometrisches Mittel über {n:count Fall|Fälle}; aus so "
        "wenigen Läufen ohne Intervall)"
    ),
    "{told}, at worst {ratio:ratio} ({case})": "{told}, schlimmstenfalls {ratio:ratio} ({case})",
    "Inside one node, {inside}; across nodes, {across}.": (
        "Innerhalb eines Knotens: {inside}; über Knoten hinweg: {across}."
    ),
    "{best} is fastest, or level with the fastest, in {n} of {all:count case}": (
        "{best} ist in {n} von {all:count Fall|Fällen} am schnellsten oder gleichauf mit dem Schnellsten"
    ),
    "{winners:and} {n:of is|are} faster in {where}, by up to {margin:ratio}.": (
        "Bei {where} {n:of ist|sind} {winners:and} schneller (bis zu {margin:ratio})."
    ),
    "{winners:and} {n:of is|are} faster in {where}, by {margin:ratio}.": (
        "Bei {where} {n:of ist|sind} {winners:and} schneller ({margin:ratio})."
    ),
    "The same holds, by less, in {n:count other case}.": (
        "Dasselbe gilt, in geringerem Maß, für {n:count anderen Fall|andere Fälle}."
    ),
    "{best} failed in at least one launch of {n:count case}.": (
        "{best} ist in {n:count Fall|Fällen} in mindestens einem Lauf gescheitert."
    ),
    "{best} lacks the call of {n:count case}.": "{best} fehlt der Aufruf für {n:count Fall|Fälle}.",
    "{n} {n:of case takes|cases take} no part in this: {n:of it has|they have} more ranks or threads than cores, and "
    "tell how libraries wait.": (
        "{n:count Fall ist|Fälle sind} davon ausgenommen: Dort gibt es mehr Ranks oder Threads als Kerne, und es "
        "zeigt sich nur, wie Bibliotheken warten."
    ),
    "In {n:count case} ranks or threads share cores: this tells how libraries wait, not more.": (
        "In {n:count Fall|Fällen} teilen sich Ranks oder Threads Kerne: Das zeigt, wie Bibliotheken warten, mehr nicht."
    ),
    "In {n:count case} the ranks' clocks agree too badly for calls so short to judge every candidate; the figures "
    "are shown and not compared.": (
        "In {n:count Fall|Fällen} stimmen die Uhren der Ranks für so kurze Aufrufe zu schlecht überein, um jeden "
        "Kandidaten zu beurteilen; die Werte werden gezeigt, aber nicht verglichen."
    ),
    "What was measured with another start ({starts:and}) takes no part in this; the report tells it apart.": (
        "Was mit einem anderen Start gemessen wurde ({starts:and}), ist davon ausgenommen; der Bericht führt es "
        "getrennt auf."
    ),
    "This holds {where}, for {versions}, {settings}, {launches}": (
        "Das gilt {where}, für {versions}, {settings}, {launches}"
    ),
    "on this virtual machine ({cpu}, {n:count core})": "auf dieser virtuellen Maschine ({cpu}, {n:count Kern|Kerne})",
    "on this machine ({cpu}, {n:count core})": "auf dieser Maschine ({cpu}, {n:count Kern|Kerne})",
    "This holds where these files were made, {launches}": "Das gilt dort, wo diese Dateien entstanden, {launches}",
    "at the settings given": "mit den angegebenen Einstellungen",
    "at default settings": "mit Standardeinstellungen",
    "from {least} to {n:count launch} of each": "aus je {least} bis {n:count Lauf|Läufen}",
    "from {n:count launch} of each": "aus je {n:count Lauf|Läufen}",
    "{scope}; so few launches find large differences only": "{scope}; so wenige Läufe zeigen nur große Unterschiede",
    "these versions": "diese Versionen",
    "As a check, one candidate was measured twice under two names: by the rule that judged the others, {n} of "
    "{all:count case} called the two different (with 95 % confidence, {low:.0%} to {high:.0%} of such cases "
    "do).": (
        "Zur Kontrolle wurde ein Kandidat unter zwei Namen doppelt gemessen: Nach der Regel, die über die "
        "anderen entschied, wären die beiden in {n} von {all:count Fall|Fällen} verschieden (mit 95 % "
        "Sicherheit in {low:.0%} bis {high:.0%} solcher Fälle)."
    ),
    "It is not known who is fastest in any of {n:count case}.": (
        "In keinem von {n:count Fall|Fällen} ist bekannt, wer am schnellsten ist."
    ),
    "It is not known who needs least memory in any of {n:count case}.": (
        "In keinem von {n:count Fall|Fällen} ist bekannt, wer am wenigsten Speicher braucht."
    ),
    "Over all {n:count case} it is not known which of {name} and {best} takes longer: {name} takes "
    "{mean:ratio} the time ({low:ratio} to {high:ratio})": (
        "Über alle {n:count Fall|Fälle} ist nicht bekannt, ob {name} oder {best} länger braucht: {name} "
        "braucht {mean:ratio} der Zeit ({low:ratio} bis {high:ratio})"
    ),
    "as fast as any, within {within:.0%}, in {n} of {all:count case}": (
        "so schnell wie der Schnellste, auf {within:.0%} genau, in {n} von {all:count Fall|Fällen}"
    ),
    "it is not known who is fastest in any of {all:count case}": (
        "in keinem von {all:count Fall|Fällen} ist bekannt, wer am schnellsten ist"
    ),
    "{front}, as fast as any, within {within:.0%}, in {n} more": (
        "{front}, so schnell wie der Schnellste, auf {within:.0%} genau, in {n} weiteren"
    ),
    "{front}; in {n} it is not known who is fastest": ("{front}; in {n} ist nicht bekannt, wer am schnellsten ist"),
    "{names:and} are alike: {front}.": ("{names:and} sind gleich: {front}."),
    "{names:and} need equally much memory, within {within:.0%}, in {n} of {all:count case}.": (
        "{names:and} brauchen gleich viel Speicher, auf {within:.0%} genau, in {n} von {all:count Fall|Fällen}."
    ),
    "{names:and} {n:of leads|lead} where it is known who does, which is too little to choose by: {front}.": (
        "{names:and} {n:of liegt|liegen} vorn, wo bekannt ist, wer vorn liegt, was für eine Wahl zu wenig ist: {front}."
    ),
    "{name} takes as long as {best}, within {within:.0%} ({low:ratio} to {high:ratio}; geometric mean of "
    "{n:count case})": (
        "{name} braucht so lange wie {best}, auf {within:.0%} genau ({low:ratio} bis {high:ratio}; "
        "geometrisches Mittel über {n:count Fall|Fälle})"
    ),
    "{name} takes {mean:ratio} as long as {best} ({low:ratio} to {high:ratio}; geometric mean of {n:count case})": (
        "{name} braucht {mean:ratio} so lange wie {best} ({low:ratio} bis {high:ratio}; geometrisches Mittel "
        "über {n:count Fall|Fälle})"
    ),
    "{name} takes {mean:ratio} the time of {best} ({low:ratio} to {high:ratio}; geometric mean of {n:count case})": (
        "{name} braucht nur {mean:ratio} so lange wie {best} ({low:ratio} bis {high:ratio}; geometrisches "
        "Mittel über {n:count Fall|Fälle})"
    ),
    "{told}; it has no figure in {n} more": ("{told}; in {n} weiteren hat er keinen Wert"),
    "Just before its launches, handing a cache line from one CPU to another took {ratio:ratio} as long for "
    "{far} as for {near}, in {n:count block}. What they differ in may be that.": (
        "Kurz vor den Läufen dauerte es bei {far} {ratio:ratio} so lange wie bei {near}, eine Cache-Zeile von "
        "einer CPU zu einer anderen zu geben, in {n:count Block|Blöcken}. Worin sie sich unterscheiden, kann "
        "daran liegen."
    ),
    "Launches with too few rounds": ("Läufe mit zu wenigen Runden"),
    "Of {n:count launch} so few rounds of a case count that its figure is kept and not compared, most often of "
    "{name} in {case}: {most} of {all}.": (
        "Von {n:count Lauf|Läufen} zählen so wenige Runden eines Falls, dass sein Wert aufgehoben und nicht "
        "verglichen wird, am häufigsten von {name} in {case}: {most} von {all}."
    ),
    "One candidate met a better machine": ("Ein Kandidat traf auf eine bessere Maschine"),
    "Run more blocks: their order is random, and what candidates meet becomes alike.": (
        "Mehr Blöcke messen: Ihre Reihenfolge ist zufällig, und was Kandidaten antreffen, gleicht sich an."
    ),
    "Something else took the processors: use a quieter hour, or more time for each case (case_limit).": (
        "Etwas anderes nahm die Prozessoren in Anspruch: zu einer ruhigeren Stunde messen oder jedem Fall mehr "
        "Zeit geben (case_limit)."
    ),
    "too few of its rounds count: {n} of {all}": ("zu wenige seiner Runden zählen: {n} von {all}"),
    "{levels} Candidates are compared within blocks all the same; what such changes do to them makes the "
    "intervals wider.": (
        "{levels} Kandidaten werden gleichwohl innerhalb der Blöcke verglichen; was solche Wechsel mit ihnen "
        "machen, macht die Intervalle breiter."
    ),
    "{n} launches are left out: too few of their rounds count": (
        "{n:count Lauf bleibt|Läufe bleiben} außer Betracht: Zu wenige Runden zählen"
    ),
}
FIRST_SIZE = {
    "{candidate}: {first:time} at {size:size} where {next_size:size} takes {next:time} in the same launch "
    "({n} of {n_all:count launch}).": (
        "{candidate}: {first:time} bei {size:size}, wo {next_size:size} im selben Lauf {next:time} braucht "
        "({n} von {n_all:count Lauf|Läufen})."
    ),
    "{candidate}: {first} at {size:size} where {next_size:size} has {next} in the same launch, {ratio:ratio} as "
    "much where {usual:ratio} would be usual ({n} of {n_all:count launch}).": (
        "{candidate}: {first} bei {size:size}, wo {next_size:size} im selben Lauf {next} erreicht, {ratio:ratio} so "
        "viel, wo {usual:ratio} üblich wäre ({n} von {n_all:count Lauf|Läufen})."
    ),
    "{title}: the first size counts more than its message": "{title}: die erste Größe zählt mehr als ihre Nachricht",
    "What is set up at the first calls stands in the first size. Leave it out, let the program begin with a size that "
    "nobody reads, or give it more warm-up.": (
        "Was bei den ersten Aufrufen eingerichtet wird, steckt in der ersten Größe. Man lasse sie weg, lasse das "
        "Programm mit einer Größe beginnen, die niemand liest, oder gebe ihm mehr Aufwärmen."
    ),
}
CROSSOVER = {
    "In {title}, the fastest is {spans:and}.": "Bei {title} ist am schnellsten: {spans:and}.",
    "It changes {n:count time} in all.": "Insgesamt wechselt es {n}-mal.",
    "{title}: the fastest depends on the size": "{title}: Wer am schnellsten ist, hängt von der Größe ab",
    "Let the sizes that your application sends decide; measure more sizes to find the exact points.": (
        "Die Größen, die die eigene Anwendung sendet, sollten entscheiden; mehr gemessene Größen zeigen die Wechsel "
        "genauer."
    ),
    "at {size:size} {other} takes {ratio:ratio} the time of {base} ({low:ratio} to {high:ratio})": (
        "bei {size:size} braucht {other} {ratio:ratio} so lange wie {base} ({low:ratio} bis {high:ratio})"
    ),
    "It changes between {one:size} and {two:size}: {sides:and}.": (
        "Der Wechsel liegt zwischen {one:size} und {two:size}: {sides:and}."
    ),
}
OUTLIER = {
    "{name} is far behind in {title}": "{name} liegt bei {title} weit zurück",
    "In {where}, {name} takes up to {worst:ratio} as long as the slowest other candidate.": (
        "Bei {where} braucht {name} bis zu {worst:ratio} so lange wie der langsamste andere Kandidat."
    ),
    "Try other algorithms or transports of this library for these sizes before giving it up.": (
        "Vor dem Verzicht auf diese Bibliothek lohnt es sich, für diese Größen andere Algorithmen oder Transporte zu "
        "versuchen."
    ),
}
MIX = {
    "For these calls at {placement}, {name} takes least: {time:time} in all": (
        "Für diese Aufrufe braucht auf {placement} {name} am wenigsten Zeit: insgesamt {time:time}"
    ),
    "For these calls, {name} takes least: {time:time} in all": (
        "Für diese Aufrufe braucht {name} am wenigsten Zeit: insgesamt {time:time}"
    ),
    "{fastest}; it cannot be told from {level:and}.": "{fastest}; von {level:and} ist das nicht zu unterscheiden.",
    "{name} takes {ratio:ratio} ({interval}) as long": "{name} braucht {ratio:ratio} ({interval}) so lange",
    "measured": "gemessen",
    "as {size:size}": "wie {size:size}",
    "from {size:size}, in proportion": "aus {size:size}, im Verhältnis der Größen",
    "between {sizes:and}": "zwischen {sizes:and}",
    "{share:.0%} of it is {call}": "{share:.0%} davon entfallen auf {call}",
    "{n:count other call} {n:of takes|take} the rest": "der Rest auf {n:count weiteren Aufruf|weitere Aufrufe}",
    "No candidate has figures for all calls of the mix at {placement}.": (
        "Kein Kandidat hat auf {placement} Werte für alle Aufrufe der Mischung."
    ),
    "No candidate has figures for all calls of the mix.": "Kein Kandidat hat Werte für alle Aufrufe der Mischung.",
    "Not in it, since nothing that stands for it {n:of was|were} measured at {placement}: {calls:and}.": (
        "Nicht enthalten, weil auf {placement} nichts gemessen wurde, was {n:of dafür|für sie} steht: {calls:and}."
    ),
    "Not in it, since nothing that stands for it {n:of was|were} measured: {calls:and}.": (
        "Nicht enthalten, weil nichts gemessen wurde, was {n:of dafür|für sie} steht: {calls:and}."
    ),
    "{name} has no figure for {call}, and is left out.": "{name} hat keinen Wert für {call} und bleibt außer Betracht.",
}
GUIDELINES = {
    "{name}: {about} calls take longer than blocking ones": (
        "{name}: Aufrufe der Form {about} brauchen länger als blockierende"
    ),
    "{name}: {about} takes longer than what it could be made of": (
        "{name}: {about} braucht länger als die Aufrufe, aus denen es sich zusammensetzen ließe"
    ),
    "Until the library mends it, use blocking calls there.": (
        "Bis die Bibliothek das behebt, sind dort blockierende Aufrufe besser."
    ),
    "Look for a setting that chooses another algorithm; until then a program can make it of its parts.": (
        "Eine Einstellung suchen, die einen anderen Algorithmus wählt; bis dahin kann ein Programm den Aufruf aus "
        "seinen Teilen zusammensetzen."
    ),
    "In {n} of {all:count case} {name} takes longer for {about} than for {rule}, {worst}.": (
        "In {n} von {all:count Fall|Fällen} braucht {name} für {about} länger als für {rule}, {worst}."
    ),
    "at worst {ratio:ratio} as long ({low:ratio} to {high:ratio}; {case})": (
        "schlimmstenfalls {ratio:ratio} so lange ({low:ratio} bis {high:ratio}; {case})"
    ),
    "{told}, and {n:count more operation}": "{told}; dazu {n:count weitere Operation|weitere Operationen}",
    "In {n} of {all:count case} {about} calls of {name} take longer than blocking ones by more than {allowed:.0%}: "
    "{told}.": (
        "In {n} von {all:count Fall|Fällen} brauchen Aufrufe der Form {about} von {name} um mehr als {allowed:.0%} "
        "länger als blockierende: {told}."
    ),
    "In {n} of {all:count case} {about} calls of {name} take longer than blocking ones: {told}.": (
        "In {n} von {all:count Fall|Fällen} brauchen Aufrufe der Form {about} von {name} länger als blockierende: "
        "{told}."
    ),
}
JUMPS = {
    "{title}: jumps along the sizes": "{title}: Sprünge über die Größen",
    "{name} jumps from {smaller:size} to {larger:size} ({factor:ratio}, {beyond})": (
        "{name} springt von {smaller:size} auf {larger:size} nach oben ({factor:ratio}, {beyond})"
    ),
    "{name} drops from {smaller:size} to {larger:size} ({factor:ratio}, {beyond})": (
        "{name} fällt von {smaller:size} auf {larger:size} ab ({factor:ratio}, {beyond})"
    ),
    "{name} hardly grows from {smaller:size} to {larger:size} ({factor:ratio}, {beyond})": (
        "{name} wächst von {smaller:size} auf {larger:size} kaum ({factor:ratio}, {beyond})"
    ),
    "{ratio:ratio} more than a smooth curve ({low:ratio} to {high:ratio})": (
        "{ratio:ratio} gegenüber einer glatten Kurve nach oben ({low:ratio} bis {high:ratio})"
    ),
    "{ratio:ratio} less than a smooth curve ({low:ratio} to {high:ratio})": (
        "{ratio:ratio} gegenüber einer glatten Kurve nach unten ({low:ratio} bis {high:ratio})"
    ),
    "{told}, and back above {larger:size}": "{told} und oberhalb von {larger:size} wieder zurück",
    "All candidates do so there: it is rather the machine's doing than a library's": (
        "Das tun dort alle Kandidaten: Es liegt eher an der Maschine als an einer Bibliothek"
    ),
    "It may be the machine's doing {cache}.": "Es kann an der Maschine liegen {cache}.",
    "Several candidates do so there: it may be the machine's doing.": (
        "Das tun dort mehrere Kandidaten: Es kann an der Maschine liegen."
    ),
    "A switch of protocol or algorithm looks so; {hints:and}.": (
        "So sieht ein Wechsel des Protokolls oder des Algorithmus aus; {hints:and}."
    ),
    "A switch of protocol or algorithm looks so.": "So sieht ein Wechsel des Protokolls oder des Algorithmus aus.",
    "(the buffers of a node's ranks come to {first:memory} to {last:memory} there, its last-level cache holds "
    "{held:memory})": (
        "(die Puffer der Ranks eines Knotens belegen dort {first:memory} bis {last:memory}, sein Last-Level-Cache "
        "fasst {held:memory})"
    ),
    "{setting} is {size:size}": "{setting} ist {size:size}",
    "{setting} is {size:size} by default": "{setting} ist standardmäßig {size:size}",
    "See which setting moves the jump, and whether another value makes it smaller.": (
        "Prüfen, welche Einstellung den Sprung verschiebt und ob ein anderer Wert ihn verkleinert."
    ),
    "What is used above a drop may be the better way below it, too: try to have it taken earlier.": (
        "Was oberhalb eines Abfalls benutzt wird, ist vielleicht auch unterhalb der bessere Weg: versuchen, es "
        "früher einsetzen zu lassen."
    ),
}
LAST_RANK = {
    "At {placement}, rank {rank} ends last in {told:and}, launch after launch.": (
        "Auf {placement} endet Rank {rank} Lauf für Lauf als letzter, und zwar in {told:and}."
    ),
    "Rank {rank} ends last in {told:and}, launch after launch.": (
        "Rank {rank} endet Lauf für Lauf als letzter, und zwar in {told:and}."
    ),
    "{share:.0%} of the samples of {n} of {all:count case} of {name}": (
        "{share:.0%} der Messwerte von {n} von {all:count Fall|Fällen} bei {name}"
    ),
    "{rank} (CPU {cpu} of {host})": "{rank} (CPU {cpu} von {host})",
    "So it is with all candidates: what is slow is its CPU or what shares it, not a library.": (
        "Das gilt für alle Kandidaten: Langsam ist seine CPU oder was sie mitbenutzt, nicht eine Bibliothek."
    ),
    "So it is not with all candidates: the algorithms of these may end there by their nature.": (
        "Das gilt nicht für alle Kandidaten: Die Algorithmen dieser Kandidaten enden dort vielleicht von Natur aus."
    ),
    "Rank {rank} ends last at {placement}": "Rank {rank} endet auf {placement} als letzter",
    "Rank {rank} ends last": "Rank {rank} endet als letzter",
    "See what else runs on that CPU, whether it clocks lower or serves interrupts, and leave it out.": (
        "Prüfen, was sonst auf dieser CPU läuft, ob sie niedriger taktet oder Interrupts bedient, und sie auslassen."
    ),
    "Balance matters to programs that go on at once: compare where other candidates end.": (
        "Für Programme, die sofort weiterrechnen, zählt die Balance: vergleichen, wo andere Kandidaten enden."
    ),
}
STATISTICS = {
    "{which} at {ratio}, {share} of samples": "{which} Modus bei {ratio}, {share} der Messwerte",
    "main": "Hauptmodus",
    "second": "zweiter",
    "third": "dritter",
    "fourth": "vierter",
    "fifth": "fünfter",
    "sixth": "sechster",
    "seventh": "siebter",
    "eighth": "achter",
    "ninth": "neunter",
    "every {n}st sample": "jeder {n}. Messwert",
    "every {n}nd sample": "jeder {n}. Messwert",
    "every {n}rd sample": "jeder {n}. Messwert",
    "every {n}th sample": "jeder {n}. Messwert",
    "in bursts of {n:.1f}": "in Schüben von {n:.1f}",
    "scattered": "verstreut",
    "too few to tell how they follow each other": "zu wenige, um zu sagen, wie sie aufeinanderfolgen",
    "as whole launches": "als ganze Läufe",
    "in long stays": "in langen Phasen",
    "in {seen} of {n:count launch}": "in {seen} von {n:count Lauf|Läufen}",
    "start uncertain by {share:.0%} of its time: clocks likely agree within {error:time}, certainly within "
    "{bound:time}; a call takes {middle:time}": (
        "Start um {share:.0%} der Zeit unsicher: Die Uhren stimmen wohl auf {error:time} überein, sicher auf "
        "{bound:time}; ein Aufruf dauert {middle:time}"
    ),
    "start uncertain by more than its time: clocks likely agree within {error:time}, certainly within "
    "{bound:time}; a call takes {middle:time}": (
        "Start um mehr als die Zeit selbst unsicher: Die Uhren stimmen wohl auf {error:time} überein, sicher auf "
        "{bound:time}; ein Aufruf dauert {middle:time}"
    ),
    "{launches} launches: the interval holds with {coverage:.1%} only; {enough} or more give {confidence:.0%}": (
        "{launches:count Lauf|Läufe}: Das Intervall gilt nur mit {coverage:.1%}; ab {enough} Läufen sind es "
        "{confidence:.0%}"
    ),
    "{n} launches are left out: their starts are uncertain by more than 5% of the time": (
        "{n:count Lauf bleibt|Läufe bleiben} außer Betracht: Der Start ist dort um mehr als 5% der Zeit unsicher"
    ),
    "clocks likely agree within {likely:.1%} of the time, but may differ by {share:.0%} of it if messages take "
    "longer one way than the other": (
        "Die Uhren stimmen wohl auf {likely:.1%} der Zeit überein, können aber um {share:.0%} davon abweichen, wenn "
        "Nachrichten in einer Richtung länger brauchen als in der anderen"
    ),
    "ranks began {skew:time} apart, {share:.0%} of the time, which is counted in it": (
        "Ranks begannen {skew:time} auseinander; diese {share:.0%} der Zeit sind mitgezählt"
    ),
    "of {n} rounds that do not count {share:.0%} were slow, of the others {other:.1%}: the tail is longer than told": (
        "von {n} Durchgängen, die nicht zählen, waren {share:.0%} langsam, von den anderen {other:.1%}: "
        "der Ausläufer ist länger als angegeben"
    ),
    "measuring takes {cost:time} of it, {share:.0%}: differences are larger than they look": (
        "davon kostet {cost:time} das Messen, {share:.0%}: Unterschiede sind größer, als sie aussehen"
    ),
    "a rank moved to another CPU in {n} launches; bind ranks to cores": (
        "in {n:count Lauf|Läufen} ist ein Rank auf eine andere CPU gewandert; Ranks an Kerne binden"
    ),
    "{n} more": "{n} weitere",
}
CONTROL = {
    "One library seems to differ from itself": "Eine Bibliothek scheint sich von sich selbst zu unterscheiden",
    "{name} was measured twice under two names, and {n} of {all:count case} called the two different, by up to "
    "{largest:ratio}. Differences of that size between libraries may be as empty.": (
        "{name} wurde zweimal unter zwei Namen gemessen, und in {n} von {all:count Fall|Fällen} galten die beiden "
        "als verschieden, bis zu {largest:ratio}. Unterschiede dieser Größe zwischen Bibliotheken bedeuten "
        "vielleicht ebenso wenig."
    ),
    "Run more blocks (stop.blocks in the plan), on a machine that does nothing else.": (
        "Mehr Blöcke messen (stop.blocks im Plan), auf einer Maschine, die nichts anderes tut."
    ),
}
MISLEADING_STARTS = {
    "In {n} of {all:count case} the ratio of two candidates is surely another with start {start} than with {usual}, "
    "in {turned} of them so far that the other one seems faster.": (
        "In {n} von {all:count Fall|Fällen} ist das Verhältnis zweier Kandidaten mit dem Start {start} sicher ein "
        "anderes als mit {usual}, in {turned} davon so sehr, dass der andere schneller scheint."
    ),
    "In {n} of {all:count case} the ratio of two candidates is surely another with start {start} than with {usual}.": (
        "In {n} von {all:count Fall|Fällen} ist das Verhältnis zweier Kandidaten mit dem Start {start} sicher ein "
        "anderes als mit {usual}."
    ),
    "Most so in {case}: {other} takes {one:ratio} the time of {base} with {usual} and {two:ratio} with {start} "
    "({shift:ratio} between the two, {low:ratio} to {high:ratio}).": (
        "Am stärksten bei {case}: {other} braucht mit {usual} {one:ratio} so lange wie {base} und mit {start} "
        "{two:ratio} so lange (zwischen beiden {shift:ratio}, {low:ratio} bis {high:ratio})."
    ),
    "Start {start} misleads": "Der Start {start} führt in die Irre",
    "Believe {usual}: ranks leave a barrier at moments that differ from library to library, which is then counted as "
    "the call's.": (
        "Verlässlich ist {usual}: Ranks verlassen eine Barriere zu Zeitpunkten, die von Bibliothek zu Bibliothek "
        "verschieden sind, und das wird dann dem Aufruf angerechnet."
    ),
}
MODES = {
    "In {n:count case} the samples of {name} have more than one mode, launch after launch.": (
        "In {n:count Fall|Fällen} haben die Messwerte von {name} Lauf für Lauf mehr als einen Modus."
    ),
    "A mean hides this: compare percentiles.": "Ein Mittelwert verbirgt das: Perzentile vergleichen.",
    "And {n:count case} more.": "Dazu {n:count weiterer Fall|weitere Fälle}.",
    "{name}: some calls take another time than most": (
        "{name}: Manche Aufrufe brauchen eine andere Zeit als die meisten"
    ),
    "What comes at even distances is the library's own: credits, queues that are filled, polling.": (
        "Was in gleichen Abständen kommt, stammt von der Bibliothek: Credits, gefüllte Warteschlangen, Polling."
    ),
    "What comes in bursts is mostly the machine's: look at stolen time, frequency and other processes.": (
        "Was in Schüben kommt, stammt meist von der Maschine: gestohlene Zeit, Takt und andere Prozesse ansehen."
    ),
    "Scattered calls may meet a page, a cache line or an interrupt: bind ranks, try another transport.": (
        "Verstreute Aufrufe treffen vielleicht auf eine Speicherseite, eine Cache-Zeile oder einen Interrupt: Ranks "
        "binden, einen anderen Transport versuchen."
    ),
}
NO_EFFECT = {
    "{settings}: changed nothing": "{settings}: ohne Wirkung",
    "{one} and {two} differ in {settings} only, which changed nothing in {n:count case}: every interval of their "
    "ratio lies within {threshold:.0%}, the widest from {low:ratio} to {high:ratio} ({case}).": (
        "{one} und {two} unterscheiden sich nur in {settings}; das hat in {n:count Fall|Fällen} nichts geändert: "
        "Jedes Intervall ihres Verhältnisses liegt innerhalb von {threshold:.0%}, das weiteste reicht von "
        "{low:ratio} bis {high:ratio} ({case})."
    ),
    "Leave it out, or see whether the library takes it at all: its name, and the transport or the algorithm that it "
    "belongs to.": (
        "Weglassen, oder prüfen, ob die Bibliothek die Einstellung überhaupt annimmt: ihren Namen und den Transport "
        "oder Algorithmus, zu dem sie gehört."
    ),
}
NOISE = {
    "Launches of the same thing differ much": "Läufe ein und desselben Falls unterscheiden sich stark",
    "In {n:count figure} of {all} the interval spans more than {wide:ratio}, at most {worst:ratio} ({name}, {case}). "
    "Comparisons are paired within blocks, which takes out slow drift of the machine, not this.": (
        "Bei {n} von {all} Werten umfasst das Intervall mehr als {wide:ratio}, höchstens {worst:ratio} ({name}, "
        "{case}). Vergleiche sind innerhalb der Blöcke gepaart; das beseitigt langsame Drift der Maschine, aber "
        "nicht dies."
    ),
    "Run more blocks, stop other work, bind ranks to cores; on virtual machines, choose a quieter hour.": (
        "Mehr Blöcke messen, andere Arbeit beenden, Ranks an Kerne binden; auf virtuellen Maschinen eine ruhigere "
        "Stunde wählen."
    ),
}
OVERSUBSCRIBED = {
    "{names}: more ranks than cores": "{names}: mehr Ranks als Kerne",
    "At {names:and}, {ranks} ranks shared {n:count core}. These figures tell how each library waits; one that spins "
    "may look a thousand times slower than with a core per rank.": (
        "Auf {names:and} teilten sich {ranks} Ranks {n:count Kern|Kerne}. Diese Werte zeigen, wie jede Bibliothek "
        "wartet; eine, die aktiv wartet, kann tausendmal langsamer aussehen als mit einem Kern je Rank."
    ),
    "Compare libraries with at most {n:count rank} here, or on a machine with more cores.": (
        "Bibliotheken hier mit höchstens {n:count Rank|Ranks} vergleichen, oder auf einer Maschine mit mehr Kernen."
    ),
}
SLOWER_FOR_LESS = {
    "{name} takes {pairs:and}; so it is at {n:count more size}.": (
        "{name} braucht {pairs:and}; ebenso bei {n:count weiteren Größe|weiteren Größen}."
    ),
    "{name} takes {pairs:and}.": "{name} braucht {pairs:and}.",
    "for {smaller:size} {ratio:ratio} as long as for {larger:size} ({low:ratio} to {high:ratio})": (
        "für {smaller:size} {ratio:ratio} so lange wie für {larger:size} ({low:ratio} bis {high:ratio})"
    ),
    "{title}: smaller messages take longer than larger ones": (
        "{title}: Kleinere Nachrichten brauchen länger als größere"
    ),
    "A switch of algorithm lies between the two sizes: try to have it made earlier. Until then a program does better "
    "to send the larger message.": (
        "Zwischen den beiden Größen liegt ein Wechsel des Algorithmus: versuchen, ihn früher eintreten zu lassen. "
        "Bis dahin fährt ein Programm besser, wenn es die größere Nachricht sendet."
    ),
}
START_UNCERTAIN = {
    "{n:count case} ({titles:and})": "{n:count Fall|Fällen} ({titles:and})",
    "Starts too uncertain to judge": "Starts zu unsicher für ein Urteil",
    "In {where} ranks' clocks likely differ by more than {bound:.0%} of the time of a call; worst is {name} in {case}: "
    "{doubt}. These figures are shown, and take part in no comparison.": (
        "In {where} weichen die Uhren der Ranks wohl um mehr als {bound:.0%} der Zeit eines Aufrufs voneinander ab; "
        "am schlechtesten ist {name} bei {case}: {doubt}. Diese Werte werden gezeigt, gehen aber in keinen Vergleich "
        "ein."
    ),
    'Measure larger messages there, or use a start that needs no common clock (start = "barrier"); `rankbench clock` '
    "shows how well clocks agree here.": (
        "Dort größere Nachrichten messen, oder einen Start wählen, der keine gemeinsame Uhr braucht (start = "
        '"barrier"); `rankbench clock` zeigt, wie gut die Uhren hier übereinstimmen.'
    ),
    "Ranks began measurably apart": "Ranks begannen messbar auseinander",
    "In {where} the last rank began later than the first by more than {bound:.0%} of the time, at most by "
    "{skew:time} of {typical:time} ({name}, {case}). This is measured, and part of the time.": (
        "In {where} begann der letzte Rank um mehr als {bound:.0%} der Zeit später als der erste, höchstens um "
        "{skew:time} von {typical:time} ({name}, {case}). Das ist gemessen und Teil der Zeit."
    ),
    "Nothing is wrong; but a difference of that size between calls so short may be one of starts.": (
        "Das ist kein Fehler; aber ein Unterschied dieser Größe zwischen so kurzen Aufrufen kann einer der Starts sein."
    ),
}
STATE = {
    "Without MPI, handing a cache line from one CPU to another took {levels:and} and changed during {n:count "
    "launch}.": (
        "Ohne MPI dauerte die Übergabe einer Cache-Zeile von einer CPU an eine andere {levels:and} und änderte sich "
        "während {n:of eines Laufs|mehrerer Läufe} ({n})."
    ),
    "Without MPI, handing a cache line from one CPU to another changed during {n:count launch}.": (
        "Ohne MPI änderte sich die Dauer der Übergabe einer Cache-Zeile von einer CPU an eine andere während {n:of "
        "eines Laufs|mehrerer Läufe} ({n})."
    ),
    "{time:time} in {n:count launch}": "{time:time} in {n:count Lauf|Läufen}",
    "Without MPI, handing a cache line from one CPU to another took {levels:and}.": (
        "Ohne MPI dauerte die Übergabe einer Cache-Zeile von einer CPU an eine andere {levels:and}."
    ),
    "no two CPUs were free at once": "nie waren zwei CPUs zugleich frei",
    "it was not measured": "er wurde nicht gemessen",
    "The machine was not in one state": "Die Maschine war nicht durchweg im selben Zustand",
    "Run more blocks, at a quieter hour or on a machine of your own: other guests of the same hardware change how "
    "near two virtual CPUs are.": (
        "Mehr Blöcke messen, zu einer ruhigeren Stunde oder auf einer eigenen Maschine: Andere Gäste derselben "
        "Hardware verändern, wie nah zwei virtuelle CPUs einander sind."
    ),
    "{near} leads while cores are near, {far} while they are far": (
        "{near} führt, solange Kerne einander nah sind, {far}, solange sie fern sind"
    ),
    "{case} ({near:ratio} near, {far:ratio} far)": "{case} ({near:ratio} nah, {far:ratio} fern)",
    "Without MPI, handing a cache line from one rank to the next took {near_time:time} at times and {far_time:time} "
    "at others. {near} is faster in the former, {far} in the latter: {cases:and}. Ratios are of the slower to the "
    "faster one.": (
        "Ohne MPI brauchte es bald {near_time:time}, bald {far_time:time}, eine Cachezeile von einem Rank zum nächsten "
        "zu geben. {near} ist im ersten Fall schneller, {far} im zweiten: {cases:and}. Verhältnisse sind die des "
        "langsameren zum schnelleren."
    ),
    "Find out which is usual where your programs run: on virtual machines other guests move the CPUs, elsewhere "
    "bind ranks to cores that share a cache, or that do not.": (
        "Herausfinden, was dort üblich ist, wo die eigenen Programme laufen: auf virtuellen Maschinen verschieben "
        "andere Gäste die CPUs; sonst Ranks an Kerne binden, die einen Cache teilen, oder an solche, die keinen teilen."
    ),
    "One candidate did not rest while others measured": "Ein Kandidat ruhte nicht, während andere maßen",
    "While ranks of {name} waited for their turn, their processes used {share:.0%} of a CPU each, as progress "
    "threads do. In {n:count launch} that disturbed what the other candidates measured.": (
        "Während Ranks von {name} warteten, bis sie an der Reihe waren, brauchten ihre Prozesse je {share:.0%} einer "
        "CPU, wie es Fortschrittsthreads tun. In {n:count Lauf|Läufen} störte das, was die anderen Kandidaten maßen."
    ),
    "Its later launches were made alone. Set together = false in the plan, or switch such threads off.": (
        "Seine späteren Läufe waren allein. Im Plan together = false setzen, oder diese Threads abschalten."
    ),
    "The hypervisor took CPU time": "Der Hypervisor hat CPU-Zeit weggenommen",
    "In {n} of {all:count launch} the hypervisor took more than {stolen:.0%} of the ranks' CPU time, at most "
    "{worst:.1%} (launch {number}, {name}).": (
        "In {n} von {all:count Lauf|Läufen} nahm der Hypervisor mehr als {stolen:.0%} der CPU-Zeit der Ranks weg, "
        "höchstens {worst:.1%} (Lauf {number}, {name})."
    ),
    "Other guests compete for the same CPUs: choose a quieter hour or a machine of your own.": (
        "Andere Gäste konkurrieren um dieselben CPUs: eine ruhigere Stunde oder eine eigene Maschine wählen."
    ),
    "The state of the machine is not known throughout": "Der Zustand der Maschine ist nicht durchweg bekannt",
    "Of {n} of {all:count launch} it is not known in what state the machine was: {reason}. They are compared as if "
    "it had been alike.": (
        "Von {n} von {all:count Lauf|Läufen} ist nicht bekannt, in welchem Zustand die Maschine war: {reason}. "
        "Verglichen wird, als sei er gleich gewesen."
    ),
    "Run the core with --state by hand, and see what it says.": (
        "Den Messkern von Hand mit --state starten und ansehen, was er meldet."
    ),
}
UNSTABLE = {
    "{title} (typically {own:.1%} off the middle, the others {others:.1%} at most: {ratio:ratio}, {low:ratio} to "
    "{high:ratio})": (
        "{title} (typisch {own:.1%} neben der Mitte, die anderen höchstens {others:.1%}: {ratio:ratio}, {low:ratio} "
        "bis {high:ratio})"
    ),
    "{name}: launches differ more than those of others": "{name}: Läufe unterscheiden sich mehr als die anderer",
    "In the same blocks, launches of {name} scatter far more than those of any other candidate in {lines:and}.": (
        "In denselben Blöcken streuen die Läufe von {name} weit mehr als die jedes anderen Kandidaten, und zwar bei "
        "{lines:and}."
    ),
    "Something is decided anew in each launch of this library: memory, connections, threads. Look at the launches "
    "one by one, bind its ranks and helper threads, and compare its worst launches, too.": (
        "Etwas wird in jedem Lauf dieser Bibliothek neu entschieden: Speicher, Verbindungen, Threads. Die Läufe "
        "einzeln ansehen, ihre Ranks und Hilfsthreads binden und auch ihre schlechtesten Läufe vergleichen."
    ),
}
PLACES = {
    "across hosts": "über Hosts hinweg",
    "anywhere": "an beliebigen Orten",
    "host": "Host",
    "socket": "Sockel",
    "NUMA node": "NUMA-Knoten",
    "core": "Kern",
    "hosts": "Hosts",
    "sockets": "Sockel",
    "NUMA nodes": "NUMA-Knoten",
    "cores": "Kerne",
    "{name} caches": "{name}-Caches",
    "on one core": "auf demselben Kern",
    "within one {kinds:and}": "mit gleichem {kinds:and}",
    "not known": "nicht bekannt",
    "across {parts}": "über {parts} hinweg",
    "within one host": "auf demselben Host",
}
FAILURES = {
    "{name} delivered wrong data": "{name} lieferte falsche Daten",
    "{name} delivered wrong data in {where}.": "{name} lieferte in {where} falsche Daten.",
    "Do not use this library for these calls; report it to its developers.": (
        "Diese Bibliothek für diese Aufrufe nicht verwenden; den Entwicklern melden."
    ),
    "{name} crashed": "{name} stürzte ab",
    "{name} crashed in {where}, by {signals:and}.": "{name} stürzte in {where} ab, durch {signals:and}.",
    "{name} crashed in {where}.": "{name} stürzte in {where} ab.",
    "Read the launch's log; try the library's newest version or another transport.": (
        "Das Protokoll des Laufs lesen; die neueste Version der Bibliothek oder einen anderen Transport versuchen."
    ),
    "{name} made no progress": "{name} kam nicht voran",
    "{name} made no progress in {where}.": "{name} kam in {where} nicht voran.",
    "Read the launch's log; raise launch_limit in the plan if the case is just slow.": (
        "Das Protokoll des Laufs lesen; launch_limit im Plan erhöhen, falls der Fall nur langsam ist."
    ),
    "{name} returned an error": "{name} meldete einen Fehler",
    "{name} returned an error in {where}.": "{name} meldete in {where} einen Fehler.",
    "Read the reason in the table of failures.": "Der Grund steht in der Tabelle der Fehlschläge.",
    "{name} was not measured where the placement says": (
        "{name} wurde nicht dort gemessen, wo die Platzierung es verlangt"
    ),
    "{name} was not measured where the placement says in {where}.": (
        "{name} wurde in {where} nicht dort gemessen, wo die Platzierung es verlangt."
    ),
    "Read the reason in the table of failures; see whether a scheduler, a container or a setting binds ranks.": (
        "Der Grund steht in der Tabelle der Fehlschläge; prüfen, ob ein Scheduler, ein Container oder eine "
        "Einstellung die Ranks bindet."
    ),
    "{name} could not be run as asked": "{name} ließ sich nicht wie verlangt ausführen",
    "{name} could not be run as asked in {where}.": "{name} ließ sich in {where} nicht wie verlangt ausführen.",
    "{name} does not have the call": "{name} hat den Aufruf nicht",
    "{name} does not have the call in {where}.": "{name} hat den Aufruf in {where} nicht.",
    "Nothing is wrong: choose another library or form where you need it.": (
        "Das ist kein Fehler: Wo der Aufruf gebraucht wird, eine andere Bibliothek oder Form wählen."
    ),
    "{name} did not always start": "{name} startete nicht immer",
    "{name} took no part": "{name} nahm nicht teil",
    "{name} did not start in {n} of {all:count launch}: {reason}": (
        "{name} startete in {n} von {all:count Lauf|Läufen} nicht: {reason}"
    ),
    "{name} was not measured: {reason}": "{name} wurde nicht gemessen: {reason}",
    "`rankbench doctor` with the plan tries it again and says what to change.": (
        "`rankbench doctor` mit dem Plan versucht es erneut und sagt, was zu ändern ist."
    ),
}
LIMITS = {
    "no start": "kein Start",
    "{ended} in {operations:and}": "{ended} in {operations:and}",
    "crash": "Absturz",
    "no progress": "kein Fortschritt",
    "error": "Fehler",
    "wrong data": "falsche Daten",
    "{name} fails {where}": "{name} scheitert {where}",
    "Read the log of launch {n}; try the library's newest version or another transport.": (
        "Das Protokoll von Lauf {n} lesen; die neueste Version der Bibliothek oder einen anderen Transport versuchen."
    ),
    "at >= {n} nodes": "ab {n} Knoten",
    "at >= {n} ranks": "ab {n} Ranks",
    "at >= {n} ranks per node": "ab {n} Ranks je Knoten",
    "It works at {below} {n:of node|nodes}.": "Mit {below} {n:of Knoten|Knoten} funktioniert es.",
    "It works at {below} {n:of rank|ranks}.": "Mit {below} {n:of Rank|Ranks} funktioniert es.",
    "It works at {below} {n:of rank|ranks} per node.": "Mit {below} {n:of Rank|Ranks} je Knoten funktioniert es.",
    "The log of launch {n} says: {line}": "Im Protokoll von Lauf {n} steht: {line}",
    "{name} fails {where} ({n} of {all:count launch}, {how}).": (
        "{name} scheitert {where} ({n} von {all:count Lauf|Läufen}, {how})."
    ),
}
PAIRS = {
    "Grouped by their times alone, pairs that share the same are together.": (
        "Allein nach ihren Zeiten gruppiert, liegen Paare mit gleicher Lage zusammen."
    ),
    "Grouped by their times alone, pairs that share the same are together in {n} of {all}.": (
        "Allein nach ihren Zeiten gruppiert, liegen Paare mit gleicher Lage in {n} von {all} Karten zusammen."
    ),
    "The times of single pairs fall into no groups beyond their scatter over launches.": (
        "Die Zeiten einzelner Paare bilden über ihre Streuung zwischen Läufen hinaus keine Gruppen."
    ),
    "{title}: what it takes by what two ranks share": "{title}: Dauer je nachdem, was zwei Ranks teilen",
    "Place ranks that talk much with each other where they share most.": (
        "Ranks, die viel miteinander austauschen, dort platzieren, wo sie am meisten teilen."
    ),
    "{name}, {title}: pairs of ranks that are not like the others": (
        "{name}, {title}: Paare von Ranks, die anders sind als die übrigen"
    ),
    "See what else runs on these CPUs, and whether the next campaign finds the same pairs.": (
        "Prüfen, was sonst auf diesen CPUs läuft und ob die nächste Kampagne dieselben Paare findet."
    ),
    "{groups}, which are those that share the same": "{groups}; es sind die Paare mit gleicher Lage",
    "{groups}; pairs that share the same are in one of them": "{groups}; Paare mit gleicher Lage sind in derselben",
    "{groups}; pairs {levels:and} are in several of them, which nothing known of the machine explains": (
        "{groups}; Paare {levels:and} verteilen sich auf mehrere davon, was nichts erklärt, was über die Maschine "
        "bekannt ist"
    ),
    "{groups}; but for {n:count pair}, pairs that share the same are in one of them": (
        "{groups}; bis auf {n:count Paar|Paare} sind Paare mit gleicher Lage in derselben"
    ),
    "{pairs} ({kind}) it takes {factor:ratio} as long as between the others of this kind: {time}": (
        "{pairs} ({kind}) dauert es {factor:ratio} so lange wie zwischen den übrigen dieser Art: {time}"
    ),
    "{pairs} it takes {factor:ratio} as long as between the others: {time}": (
        "{pairs} dauert es {factor:ratio} so lange wie zwischen den übrigen: {time}"
    ),
    "from rank {start} to rank {end}": "von Rank {start} zu Rank {end}",
    "{n:of rank|ranks} {ranks:and}": "{n:of Rank|Ranks} {ranks:and}",
    "Groups of like pairs are looked for in {fewest} launches or more that have all pairs; there {n:of is|are} {n}.": (
        "Gruppen gleicher Paare werden erst ab {fewest} Läufen mit allen Paaren gesucht; es {n:of gibt|gibt} {n}."
    ),
    "No pair can be told from the others by more than the scatter over launches.": (
        "Kein Paar unterscheidet sich von den übrigen um mehr als die Streuung zwischen Läufen."
    ),
    "{n} at {time}": "{n} mit {time}",
    "between rank {rank} and {others}": "zwischen Rank {rank} und {others}",
    "between ranks {first} and {second}": "zwischen Rank {first} und Rank {second}",
    "Launches placed {ranks} differently, so that nothing is told of what pairs share.": (
        "Die Läufe haben {ranks} unterschiedlich platziert; daher bleibt offen, was Paare teilen."
    ),
    "{n} more pairs": "{n} weitere Paare",
    "Where ranks sat is not known, so that nothing is told of what pairs share.": (
        "Es ist nicht bekannt, wo die Ranks saßen; daher bleibt offen, was Paare teilen."
    ),
    "The pairs fall into {n} groups: {times:and}": "Die Paare bilden {n} Gruppen: {times:and}",
    "{ratio:ratio} the time": "{ratio:ratio} so lange",
    "{n:count pair}": "{n:count Paar|Paare}",
}
PLACEMENT = {
    "{low:ratio} to {high:ratio}": "{low:ratio} bis {high:ratio}",
    "one block": "ein Block",
    "{ratio:ratio} the time at {size:size} ({interval})": "bei {size:size} {ratio:ratio} so lange ({interval})",
    "{ratio:ratio} the time ({interval})": "{ratio:ratio} so lange ({interval})",
    "{interval}, not distinguishable": "{interval}, nicht unterscheidbar",
    "{far} against {near}: {ratios:and}.": "{far} gegenüber {near}: {ratios:and}.",
    "{name}, {title}: what the placement does": "{name}, {title}: was die Platzierung bewirkt",
    "Place ranks that talk most where the figures are best; measure again where the reason is not known.": (
        "Ranks, die am meisten austauschen, dort platzieren, wo die Werte am besten sind; neu messen, wo der Grund "
        "nicht bekannt ist."
    ),
    "Ranks did not sit on the same CPUs in all launches, so that no reason can be told.": (
        "Die Ranks saßen nicht in allen Läufen auf denselben CPUs; daher lässt sich kein Grund nennen."
    ),
    "Between hosts messages cross the network, of which nothing was measured without MPI: its share cannot be told.": (
        "Zwischen Hosts laufen Nachrichten über das Netz, von dem ohne MPI nichts gemessen wurde: Sein Anteil lässt "
        "sich nicht angeben."
    ),
    "That is too uncertain for a reason to be looked for.": "Das ist zu unsicher, um nach einem Grund zu suchen.",
    "What handing a cache line between these CPUs takes without MPI was not measured, so that it cannot be told "
    "whether the machine is the reason.": (
        "Wie lange die Übergabe einer Cache-Zeile zwischen diesen CPUs ohne MPI dauert, wurde nicht gemessen; daher "
        "bleibt offen, ob die Maschine der Grund ist."
    ),
    "Without MPI, handing a cache line between these CPUs takes {ratio:ratio} as long": (
        "Ohne MPI dauert die Übergabe einer Cache-Zeile zwischen diesen CPUs {ratio:ratio} so lange"
    ),
    "{without}: the machine explains it.": "{without}: Die Maschine erklärt es.",
    "{without}: the machine explains it (at {near} the CPUs share {caches:and}, at {far} they do not).": (
        "{without}: Die Maschine erklärt es (auf {near} teilen die CPUs {caches:and}, auf {far} nicht)."
    ),
    "an {name} cache": "einen {name}-Cache",
    "{without}, which is too uncertain to tell whether the machine is the reason.": (
        "{without}; das ist zu unsicher, um zu sagen, ob die Maschine der Grund ist."
    ),
    "{without}, which is no difference: the way between the CPUs is not the reason; what is cannot be told.": (
        "{without}; das ist kein Unterschied: Der Weg zwischen den CPUs ist nicht der Grund; welcher es ist, bleibt "
        "offen."
    ),
    "{without}, the other way round: the machine does not explain it, and what does cannot be told.": (
        "{without}, also umgekehrt: Die Maschine erklärt es nicht, und was es erklärt, bleibt offen."
    ),
    "{without}, which does not explain as much; what the library does differently there cannot be told.": (
        "{without}; das erklärt nicht so viel, und was die Bibliothek dort anders macht, bleibt offen."
    ),
    "{near} is not faster than {far}: without MPI, handing a cache line between these CPUs takes {ratio:ratio} as "
    "long at {far}, which is too uncertain to tell why.": (
        "{near} ist nicht schneller als {far}: Ohne MPI dauert die Übergabe einer Cache-Zeile zwischen diesen CPUs "
        "auf {far} {ratio:ratio} so lange; das ist zu unsicher, um den Grund zu nennen."
    ),
    "{near} is not faster than {far}: without MPI, handing a cache line between these CPUs takes as long at both "
    "({ratio:ratio}).": (
        "{near} ist nicht schneller als {far}: Ohne MPI dauert die Übergabe einer Cache-Zeile zwischen diesen CPUs "
        "auf beiden gleich lange ({ratio:ratio})."
    ),
    "{near} is not faster than {far}: without MPI, handing a cache line between these CPUs takes {ratio:ratio} as "
    "long at {far}, but these {more:time} are lost in the {call:time} of the call.": (
        "{near} ist nicht schneller als {far}: Ohne MPI dauert die Übergabe einer Cache-Zeile zwischen diesen CPUs "
        "auf {far} {ratio:ratio} so lange, aber diese {more:time} gehen in den {call:time} des Aufrufs unter."
    ),
    "{near} is not faster than {far}: without MPI, handing a cache line between these CPUs takes {ratio:ratio} as "
    "long at {far}, which the call does not show; why cannot be told.": (
        "{near} ist nicht schneller als {far}: Ohne MPI dauert die Übergabe einer Cache-Zeile zwischen diesen CPUs "
        "auf {far} {ratio:ratio} so lange, was der Aufruf nicht zeigt; warum, bleibt offen."
    ),
    "{place} jumps {jumps:and}": "{place} springt {jumps:and}",
    "from {smaller:size} to {larger:size} ({factor:ratio})": "von {smaller:size} auf {larger:size} ({factor:ratio})",
    "Along the sizes, {found:and}: so looks a library that switches its protocol at other sizes, which explains the "
    "ratios between.": (
        "Über die Größen: {found:and}. So sieht eine Bibliothek aus, die ihr Protokoll bei anderen Größen wechselt; "
        "das erklärt die Verhältnisse dazwischen."
    ),
    "Along the sizes, {found:and}, the other does not: a switch of protocol looks so, and so does a cache that is "
    "full.": (
        "Über die Größen: {found:and}, die andere Platzierung nicht. So sieht ein Protokollwechsel aus, ebenso ein "
        "voller Cache."
    ),
    "At {size:size} the two are alike": "Bei {size:size} sind beide gleich",
    "{alike}; messages may fit into the last-level cache of {cache:size}, so that it cannot be told whether copying "
    "limits them.": (
        "{alike}; die Nachrichten passen vielleicht in den Last-Level-Cache von {cache:size}, daher bleibt offen, ob "
        "das Kopieren sie begrenzt."
    ),
    "{alike}; messages may fit into a cache of unknown size, so that it cannot be told whether copying limits them.": (
        "{alike}; die Nachrichten passen vielleicht in einen Cache unbekannter Größe, daher bleibt offen, ob das "
        "Kopieren sie begrenzt."
    ),
    "{alike}; what one core copies was not measured, so that the reason cannot be told.": (
        "{alike}; was ein Kern kopiert, wurde nicht gemessen, daher lässt sich der Grund nicht nennen."
    ),
    "{alike}, with {rate} MB/s, where a core copies {core} MB/s without MPI while all others copy, too": (
        "{alike}, mit {rate} MB/s; ohne MPI kopiert ein Kern {core} MB/s, während alle anderen auch kopieren"
    ),
    "{beside}: no cache holds such messages, and copying fits as the limit, wherever the other core is.": (
        "{beside}: Kein Cache fasst solche Nachrichten, und das Kopieren passt als Grenze, wo immer der andere Kern "
        "ist."
    ),
    "{beside}: copying alone does not explain that, and what does cannot be told.": (
        "{beside}: Das Kopieren allein erklärt das nicht, und was es erklärt, bleibt offen."
    ),
}
SCALING = {
    "on {n:count node}": "auf {n:count Knoten|Knoten}",
    "with {n:count rank} per node": "mit {n:count Rank|Ranks} je Knoten",
    "from {first} to {last} nodes": "von {first} bis {last} Knoten",
    "from {first} to {last} ranks per node": "von {first} bis {last} Ranks je Knoten",
    "at {size:size} {told}": "bei {size:size} {told}",
    "In {title}, the fastest is {told}.": "Bei {title} ist am schnellsten: {told}.",
    "It changes in {n:count more row} of nodes or of ranks.": (
        "Es wechselt in {n:count weiteren Reihe|weiteren Reihen} von Knoten oder Ranks."
    ),
    "{title}: the fastest depends on the number of {growing}": (
        "{title}: Wer am schnellsten ist, hängt von der Zahl der {growing} ab"
    ),
    "nodes": "Knoten",
    "ranks per node": "Ranks je Knoten",
    "Choose by the numbers that your jobs have; the scaling plots show where the curves cross.": (
        "Nach den Zahlen wählen, die die eigenen Jobs haben; die Skalierungsdiagramme zeigen, wo sich die Kurven "
        "schneiden."
    ),
    "From {fewer} to {more:count node} at {size:size} {fixed}, {name} takes {factor:ratio} as long, {others:and}: "
    "against {rivals:and} at least {ratio:ratio} as much ({low:ratio} to {high:ratio}).": (
        "Von {fewer} auf {more:count Knoten|Knoten} bei {size:size} {fixed} braucht {name} {factor:ratio} so lange, "
        "{others:and}: gegenüber {rivals:and} mindestens {ratio:ratio} so viel ({low:ratio} bis {high:ratio})."
    ),
    "From {fewer} to {more:count node} {fixed}, {name} takes {factor:ratio} as long, {others:and}: against "
    "{rivals:and} at least {ratio:ratio} as much ({low:ratio} to {high:ratio}).": (
        "Von {fewer} auf {more:count Knoten|Knoten} {fixed} braucht {name} {factor:ratio} so lange, {others:and}: "
        "gegenüber {rivals:and} mindestens {ratio:ratio} so viel ({low:ratio} bis {high:ratio})."
    ),
    "So it does after {n:count other step} or at other sizes.": (
        "Ebenso nach {n:count weiteren Schritt|weiteren Schritten} oder bei anderen Größen."
    ),
    "{name}, {title}: time grows with the nodes as most others' does not": (
        "{name}, {title}: Die Zeit wächst mit den Knoten stärker als bei den meisten anderen"
    ),
    "See which algorithm it takes from there on, and whether a setting chooses another.": (
        "Prüfen, welcher Algorithmus von dort an benutzt wird und ob eine Einstellung einen anderen wählt."
    ),
}
GROUPS = {
    "{names} throughout": "{names} durchweg",
    "{names} up to {last:size}": "{names} bis {last:size}",
    "{names} from {first:size} on": "{names} ab {first:size}",
    "{spans}; between them no difference": "{spans}; dazwischen kein Unterschied",
    "{spans}; no difference can be told at {n} of {all:count size}": (
        "{spans}; bei {n} von {all:count Größe|Größen} ist kein Unterschied zu erkennen"
    ),
    "No difference can be told at any size": "Bei keiner Größe ist ein Unterschied zu erkennen",
    "So it is, by about as much, in {titles:and}.": "Ebenso, um etwa so viel, bei {titles:and}.",
    "{name} {ratio:ratio} at {size:size}": "{name} {ratio:ratio} bei {size:size}",
    "At worst, against the fastest: {told:and}.": "Schlimmstenfalls, gegenüber dem Schnellsten: {told:and}.",
    "{title} and {n} like it": "{title} und {n} ähnliche",
}
STARTS = {
    "{start} reads {ratio:ratio} of {usual} (median of {all} figures, {low:ratio} to {high:ratio}; {n} {n:of "
    "differs|differ}).": (
        "{start} zeigt {ratio:ratio} von {usual} (Median von {all} Werten, {low:ratio} bis {high:ratio}; {n} {n:of "
        "weicht|weichen} ab)."
    ),
    "{start} reads {ratio:ratio} of {usual} ({n} {n:of differs|differ}).": (
        "{start} zeigt {ratio:ratio} von {usual} ({n} {n:of weicht|weichen} ab)."
    ),
    "{start} cannot be told from {usual} in any of {n:count figure}.": (
        "{start} ist bei keinem von {n:count Wert|Werten} von {usual} zu unterscheiden."
    ),
    "It agrees on no time at which all ranks begin: they began {own:time} apart, against {theirs:time} with {usual} "
    "(medians).": (
        "Er vereinbart keinen Zeitpunkt, zu dem alle Ranks beginnen: Sie begannen {own:time} auseinander, gegenüber "
        "{theirs:time} mit {usual} (Mediane)."
    ),
    "Its ranks began {own:time} apart, against {theirs:time} with {usual} (medians).": (
        "Die Ranks begannen {own:time} auseinander, gegenüber {theirs:time} mit {usual} (Mediane)."
    ),
    "It discards {own:.1%} of its samples, {usual} {theirs:.1%}.": (
        "Er verwirft {own:.1%} seiner Messwerte, {usual} {theirs:.1%}."
    ),
    "It agrees on no time at which all ranks begin.": "Er vereinbart keinen Zeitpunkt, zu dem alle Ranks beginnen.",
}
TOOLS_DISAGREE = {
    "{tool} contradicts the core": "{tool} widerspricht dem Kern",
    "In {n} of {all:count case} that both measured, {tool} tells the one of two candidates to be faster which the core "
    "tells to be slower. Most so in {case}: {other} takes {core:ratio} the time of {base} by the core and "
    "{theirs:ratio} by {tool}.": (
        "In {n} von {all:count Fall|Fällen}, die beide gemessen haben, nennt {tool} von zwei Kandidaten den schneller, "
        "den der Kern langsamer nennt. Am stärksten bei {case}: {other} braucht nach dem Kern {core:ratio} so lange "
        "wie {base} und nach {tool} {theirs:ratio} so lange."
    ),
    "They do not count the same: calls begin otherwise, a mean counts what is rare, and a tool's first size counts "
    "what is set up once. `rankbench reconcile` measures what each of these makes of the time.": (
        "Sie zählen nicht dasselbe: Aufrufe beginnen anders, ein Mittelwert zählt Seltenes mit, und die erste Größe "
        "eines Werkzeugs zählt, was nur einmal eingerichtet wird. `rankbench reconcile` misst, was davon jedes an der "
        "Zeit ausmacht."
    ),
}
TAILS = {
    "Pareto tail, alpha {alpha:.2f} ({low:.2f} to {high:.2f}), {share:.2g} % of samples, p {p:.2f}": (
        "Pareto-Ausläufer, Alpha {alpha:.2f} ({low:.2f} bis {high:.2f}), {share:.2g} % der Messwerte, p {p:.2f}"
    ),
    "it does not describe the samples (p {p:.2f})": "er beschreibt die Messwerte nicht (p {p:.2f})",
    "none: alpha may be as little as {low:.2f}, and below 2 the variance does not exist": (
        "keine: Alpha kann bis {low:.2f} hinabreichen, und unter 2 existiert die Varianz nicht"
    ),
    "it reaches only {reach:.1f} times as far as where it begins": (
        "er reicht nur {reach:.1f}-mal so weit wie sein Anfang"
    ),
    "an exponential tail does as well": "ein exponentieller Ausläufer passt ebenso gut",
    "a lognormal tail does better": "ein lognormaler Ausläufer passt besser",
    "no Pareto tail: {reason}": "kein Pareto-Ausläufer: {reason}",
    "none: with a Pareto tail of alpha {alpha:.2f} the variance does not exist": (
        "keine: Bei einem Pareto-Ausläufer mit Alpha {alpha:.2f} existiert die Varianz nicht"
    ),
    "none: it takes two samples": "keine: Dafür braucht es zwei Messwerte",
}
MEASURES = {
    "memory": "Speicher",
    "time": "Zeit",
    "{first} to {last}": "{first} bis {last}",
    "message rate in messages/s": "Nachrichtenrate in Nachrichten/s",
    "memory that the library holds per rank": "Speicher, den die Bibliothek je Rank belegt",
    "bandwidth in MB/s (1 MB = 10^6 B)": "Bandbreite in MB/s (1 MB = 10^6 B)",
    "bandwidth per node in MB/s (1 MB = 10^6 B)": "Bandbreite je Knoten in MB/s (1 MB = 10^6 B)",
    "overall time": "Gesamtzeit",
    "latency": "Latenz",
    "{call}, start {start}": "{call}, Start {start}",
    "{status} in {n}": "{status} in {n}",
    "{status} in {n} of {all:count launch}": "{status} in {n} von {all:count Lauf|Läufen}",
    "not judged": "nicht beurteilt",
    "{n:count rank} per node": "{n:count Rank|Ranks} je Knoten",
    ", more than cores": ", mehr als Kerne",
}
STOPPING = {
    "{n} of {all} intervals are within ±{amount:.2%}": "{n} von {all} Intervallen liegen innerhalb von ±{amount:.2%}",
    "all {all} intervals are within ±{amount:.2%}": "alle {all} Intervalle liegen innerhalb von ±{amount:.2%}",
    "{spent:.0f} s of the plan's {amount:.0f} s are spent": (
        "{spent:.0f} s von {amount:.0f} s des Plans sind verbraucht"
    ),
    "Against {base}, {name} is faster in {faster} of {all:count case}, slower in {slower}, as fast within "
    "{within:.0%} in {alike}; in {unknown} it is not known.": (
        "Gegen {base} ist {name} in {faster} von {all:count Fall|Fällen} schneller, in {slower} langsamer, auf "
        "{within:.0%} gleich schnell in {alike}; in {unknown} ist es nicht bekannt."
    ),
    "no two candidates have figures for the same cases": "keine zwei Kandidaten haben Werte für dieselben Fälle",
    "over {n:count case} {best} takes least; against {settled} of {all:count other candidate} that is decided": (
        "über {n:count Fall|Fälle} braucht {best} am wenigsten; gegen {settled} von "
        "{all:count anderem Kandidaten|anderen Kandidaten} ist das entschieden"
    ),
    "{n} of {all} cases are decided": "{n} von {all} Fällen sind entschieden",
    "every block of the plan is wanted": "jeder Block des Plans ist verlangt",
    "{n} would need more blocks than the plan has": "{n:count bräuchte|bräuchten} mehr Blöcke, als der Plan hat",
    "{n} {n:of goes|go} on, to block {block} as it looks": (
        "{n} {n:of läuft|laufen} weiter, voraussichtlich bis Block {block}"
    ),
    "the next look is after block {n}": "nach Block {n} wird das nächste Mal geprüft",
}
GATING = {
    "needs {ratio} what it took in {old}": "braucht {ratio} so viel wie in {old}",
    "takes {ratio} what it took in {old}": "braucht {ratio} so lange wie in {old}",
    "needs {ratio} what {old} takes": "braucht {ratio} so viel wie {old}",
    "takes {ratio} what {old} takes": "braucht {ratio} so lange wie {old}",
    "{ratio} leaves open whether it is more than {threshold:g} % slower": (
        "{ratio} lässt offen, ob es um mehr als {threshold:g} % langsamer ist"
    ),
    "More launches tell: raise `blocks` in the plan.": "Mehr Läufe zeigen es: `blocks` im Plan erhöhen.",
    "Say by --match {name}=NAME who takes its place, or gate against a newer campaign.": (
        "Mit --match {name}=NAME angeben, wer an seine Stelle tritt, oder gegen eine neuere Kampagne prüfen."
    ),
    "{ratio} is no more than the raw probes of the machine differ, without MPI, between the two campaigns": (
        "{ratio} ist nicht mehr, als sich die reinen Maschinenproben ohne MPI zwischen den beiden Kampagnen "
        "unterscheiden"
    ),
    "Measure both libraries in one campaign, and gate by --candidate and --against-candidate.": (
        "Beide Bibliotheken in einer Kampagne messen und mit --candidate und --against-candidate prüfen."
    ),
    "not measured in {campaign}": "nicht gemessen in {campaign}",
    "not judged: {doubt}": "nicht beurteilt: {doubt}",
    "{found}; adjusted p {p:.3f}, threshold {threshold:g} %": (
        "{found}; adjustiertes p {p:.3f}, Schwelle {threshold:g} %"
    ),
    "{found}; adjusted p <{least:g}, threshold {threshold:g} %": (
        "{found}; adjustiertes p <{least:g}, Schwelle {threshold:g} %"
    ),
    "no interval": "kein Intervall",
    "{name} is not in {campaign} any more": "{name} ist in {campaign} nicht mehr enthalten",
    "its times are too short for the clock": "die Zeiten sind zu kurz für die Uhr",
    "({name} has figures)": "({name} hat Werte)",
    "Run the whole of the older plan.": "Den älteren Plan vollständig messen.",
    "Prefer larger messages or the start barrier.": "Besser sind größere Nachrichten oder der Start barrier.",
    "`rankbench show` and the launch's log tell more.": "`rankbench show` und das Protokoll des Laufs sagen mehr.",
    "If that is meant, gate against a newer campaign or raise --threshold.": (
        "Falls das beabsichtigt ist, gegen eine neuere Kampagne prüfen oder --threshold erhöhen."
    ),
    "no block has both {new} and {old}": "kein Block enthält sowohl {new} als auch {old}",
}
CIRCUMSTANCES = {
    "{n} to {most} good samples, {limit:g} s": "{n} bis {most} gute Messwerte, {limit:g} s",
    "{n} good samples, {limit:g} s": "{n} gute Messwerte, {limit:g} s",
    "none": "keine",
    "{what} {then} then, {now} now": "{what} damals {then}, jetzt {now}",
    "CPU": "CPU",
    "kernel": "Kernel",
    "distribution": "Distribution",
    "virtualisation": "Virtualisierung",
    "version of the core": "Version des Messkerns",
    "sources of the core": "Quellen des Messkerns",
    "time source": "Zeitquelle",
    "synchronisation of clocks": "Uhrensynchronisation",
    "limits of a case": "Grenzen eines Falls",
    "library": "Bibliothek",
    "it says": "Selbstauskunft",
    "compiler": "Compiler",
    "settings": "Einstellungen",
    "handing a cache line to another CPU takes {ratio:ratio} without MPI": (
        "die Übergabe einer Cache-Zeile an eine andere CPU dauert ohne MPI {ratio:ratio}"
    ),
}
THEN_AND_NOW = {
    "in {n} of {all:count case}": "in {n} von {all:count Fall|Fällen}",
    "What the machine took without MPI is not known of both": (
        "Was die Maschine ohne MPI brauchte, ist nicht von beiden bekannt"
    ),
    "{above} of {all:count figure} {above:of is|are} larger now, {below} smaller": (
        "{above} von {all:count Wert|Werten} {above:of ist|sind} jetzt größer, {below} kleiner"
    ),
    "{above} of {all:count figure} {above:of is|are} slower now, {below} faster": (
        "{above} von {all:count Wert|Werten} {above:of ist|sind} jetzt langsamer, {below} schneller"
    ),
    "{new} takes {mean:ratio} the time that it took: geometric mean over {n:count case}": (
        "{new} braucht {mean:ratio} so lange wie damals: geometrisches Mittel über {n:count Fall|Fälle}"
    ),
    "{new} takes {mean:ratio} the time that {old} took: geometric mean over {n:count case}": (
        "{new} braucht {mean:ratio} so lange wie damals {old}: geometrisches Mittel über {n:count Fall|Fälle}"
    ),
    "{estimator}, intervals of {confidence:.0%}": "{estimator}, Intervalle von {confidence:.0%}",
    "{name} (then only)": "{name} (nur damals)",
    "{name} (now only)": "{name} (nur jetzt)",
    "{n:count case} of {then} and {m} of {now} have no counterpart": (
        "{n:count Fall|Fälle} von {then} und {m} von {now} haben kein Gegenstück"
    ),
    "`control = true` in the plan shows how far to trust a campaign.": (
        "`control = true` im Plan zeigt, wie weit einer Kampagne zu trauen ist."
    ),
    "Without MPI, {told:and} the time that it took then": "Ohne MPI dauert {told:and} so lange wie damals",
    "handing a cache line to another CPU takes {ratio:ratio}": (
        "die Übergabe einer Cache-Zeile an eine andere CPU {ratio:ratio}"
    ),
    "copying takes {ratio:ratio}": "das Kopieren {ratio:ratio}",
    "{told}; of {n} no change above {threshold:g} % can be told": (
        "{told}; bei {n} ist keine Änderung über {threshold:g} % zu erkennen"
    ),
    "{told}; {n} of these {all} {n:of is|are} no larger than what the raw probes show": (
        "{told}; {n} von diesen {all} {n:of ist|sind} nicht größer als das, was die reinen Maschinenproben zeigen"
    ),
    "{new} needs {mean:ratio} the memory that it needed: geometric mean over {n:count case}": (
        "{new} braucht {mean:ratio} so viel Speicher wie damals: geometrisches Mittel über {n:count Fall|Fälle}"
    ),
    "{new} needs {mean:ratio} the memory that {old} needed: geometric mean over {n:count case}": (
        "{new} braucht {mean:ratio} so viel Speicher wie damals {old}: geometrisches Mittel über {n:count Fall|Fälle}"
    ),
    "{n:count case} {n:of has|have} other numbers of ranks ({then} then, {now} now)": (
        "{n:count Fall hat|Fälle haben} eine andere Zahl von Ranks (damals {then}, jetzt {now})"
    ),
    "{n} differ by their start only ({then} then, {now} now)": (
        "{n:count unterscheidet|unterscheiden} sich nur durch den Start (damals {then}, jetzt {now})"
    ),
    "A/A control, one candidate measured twice and called different from itself: {then} then and {now} now.": (
        "A/A-Kontrolle, ein Kandidat zweimal gemessen und als von sich selbst verschieden eingestuft: damals {then}, "
        "jetzt {now}."
    ),
    "{known}; {n:count ratio} (°) {n:of is|are} no larger than that": (
        "{known}; {n:count Verhältnis|Verhältnisse} (°) {n:of ist|sind} nicht größer als das"
    ),
    "The state of the machine between two campaigns is not controlled, and in no interval. {known}.": (
        "Der Zustand der Maschine zwischen zwei Kampagnen ist nicht kontrolliert und in keinem Intervall enthalten. "
        "{known}."
    ),
    "Two libraries in one campaign are paired block by block, which is the better design.": (
        "Zwei Bibliotheken in einer Kampagne sind Block für Block gepaart; das ist der bessere Versuchsplan."
    ),
    "No case has figures of both.": "Kein Fall hat Werte von beiden.",
    "{title} of {name} ({ratio:ratio})": "{title} von {name} ({ratio:ratio})",
    "Of so restless a machine believe large changes only.": (
        "Bei einer so unruhigen Maschine sind nur große Änderungen glaubhaft."
    ),
    "{told}, in none of which a change can be told.": "{told}, in keinem davon ist eine Änderung zu erkennen.",
    "The plans ask for other figures ({then} then, {now} now); both are told as now.": (
        "Die Pläne verlangen verschiedene Werte (damals {then}, jetzt {now}); beide sind wie jetzt ausgewertet."
    ),
    "The machine is not the same: {differences}.": "Die Maschine ist nicht dieselbe: {differences}.",
    "To tell libraries from machines, measure both in one campaign on one machine.": (
        "Um Bibliotheken von Maschinen zu trennen, beide in einer Kampagne auf einer Maschine messen."
    ),
    "What measured is not the same: {differences}.": "Gemessen wurde nicht mit demselben: {differences}.",
    "Measure the older library again with this rankbench.": "Die ältere Bibliothek mit diesem rankbench neu messen.",
    "How was measured is not the same: {differences}.": "Gemessen wurde nicht auf dieselbe Weise: {differences}.",
    "Run the older plan again with the newer library.": "Den älteren Plan mit der neueren Bibliothek erneut messen.",
    "Nobody was matched with {names:and}.": "Ohne Gegenstück bleiben: {names:and}.",
    "Say by --match OLD=NEW who is to be held against whom.": (
        "Mit --match OLD=NEW angeben, wer wem gegenübergestellt wird."
    ),
    "Run the same plan to compare all cases.": "Denselben Plan messen, um alle Fälle zu vergleichen.",
    "The machine was in another state: without MPI, handing a cache line from one CPU to another takes {ratio:ratio} "
    "the time that it took then.": (
        "Die Maschine war in einem anderen Zustand: Ohne MPI dauert die Übergabe einer Cache-Zeile von einer CPU an "
        "eine andere {ratio:ratio} so lange wie damals."
    ),
    "Small messages follow that, whatever the library; measure again when the machine is as it was.": (
        "Kleine Nachrichten folgen dem, bei jeder Bibliothek; neu messen, wenn die Maschine wieder ist wie damals."
    ),
    "There are few launches, {then} then and {now} now of the case that has fewest: only large changes can be told; "
    "fewer than {fewest} tell nothing.": (
        "Es gibt wenige Läufe, beim Fall mit den wenigsten damals {then} und jetzt {now}: Nur große Änderungen sind "
        "zu erkennen; weniger als {fewest} sagen nichts."
    ),
    "There are few launches, {then} then and {now} now of the case that has fewest: only large changes can be told.": (
        "Es gibt wenige Läufe, beim Fall mit den wenigsten damals {then} und jetzt {now}: Nur große Änderungen sind "
        "zu erkennen."
    ),
    "Run more blocks.": "Mehr Blöcke messen.",
    "Grew most: {names}.": "Am stärksten gewachsen: {names}.",
    "Slowed down most: {names}.": "Am stärksten verlangsamt: {names}.",
    "Shrank most: {names}.": "Am stärksten geschrumpft: {names}.",
    "Sped up most: {names}.": "Am stärksten beschleunigt: {names}.",
    "{new} is not what {old} was: {differences}.": "{new} ist nicht, was {old} war: {differences}.",
    "A change may come from any of these; change one at a time.": (
        "Eine Änderung kann von jedem davon kommen; immer nur eines ändern."
    ),
}
RINGS = {
    "line through {hops:and} hops": "Gerade durch {hops:and} Hops",
    "round of {hops:and} hops, divided by them": "Runde von {hops:and} Hops, geteilt durch ihre Zahl",
    "difference between {hops:and} hops": "Differenz zwischen {hops:and} Hops",
}
WORDS: dict[str, str] = {
    **HELPERS,
    **CONCLUSION,
    **FIRST_SIZE,
    **CROSSOVER,
    **OUTLIER,
    **MIX,
    **GUIDELINES,
    **JUMPS,
    **LAST_RANK,
    **STATISTICS,
    **CONTROL,
    **MISLEADING_STARTS,
    **MODES,
    **NO_EFFECT,
    **NOISE,
    **OVERSUBSCRIBED,
    **SLOWER_FOR_LESS,
    **START_UNCERTAIN,
    **STATE,
    **UNSTABLE,
    **PLACES,
    **FAILURES,
    **LIMITS,
    **PAIRS,
    **PLACEMENT,
    **SCALING,
    **GROUPS,
    **STARTS,
    **TOOLS_DISAGREE,
    **TAILS,
    **MEASURES,
    **STOPPING,
    **GATING,
    **CIRCUMSTANCES,
    **THEN_AND_NOW,
    **RINGS,
}
