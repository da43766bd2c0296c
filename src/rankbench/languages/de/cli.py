"""What the commands show, compare and advise say beside what they print of other rooms."""

from __future__ import annotations

WORDS = {
    "{what} (+: what the first use added)": "{what} (+: was die erste Benutzung hinzubrachte)",
    "{name}: measured between {n} pairs of ranks, which --matrix shows": (
        "{name}: zwischen {n} Paaren von Ranks gemessen, die --matrix zeigt"
    ),
    "{two} over {one}: times paired within {n:count block}": (
        "{two} im Verhältnis zu {one}: Zeiten innerhalb von {n:count Block|Blöcken} gepaart"
    ),
    "A ratio above 1 means that {name} is slower; ~: no difference above {percent:g} % can be told.": (
        "Ein Verhältnis über 1 heißt, dass {name} langsamer ist; ~: kein Unterschied über {percent:g} % zu erkennen."
    ),
    "A ratio above 1 means that {name} is slower, or needs more memory; ~: no difference above {percent:g} % can be "
    "told.": (
        "Ein Verhältnis über 1 heißt, dass {name} langsamer ist oder mehr Speicher braucht; ~: kein Unterschied über "
        "{percent:g} % zu erkennen."
    ),
    "geometric mean": "geometrisches Mittel",
    "the same, of memory": "dasselbe, vom Speicher",
    "No case has figures of both.": "Kein Fall hat Werte von beiden.",
    "{other} is slower in {more}, faster in {less}, not distinguishable in {neither} of {all:count case}; p is "
    "adjusted over all cases and pairs of the campaign.": (
        "{other} ist langsamer in {more}, schneller in {less}, nicht zu unterscheiden in {neither} von "
        "{all:count Fall|Fällen}; p ist über alle Fälle und Paare der Kampagne angepasst."
    ),
    "{other} needs more memory in {more}, less in {less}, not distinguishable in {neither} of {all:count case}; p is "
    "adjusted over all cases and pairs of the campaign.": (
        "{other} braucht mehr Speicher in {more}, weniger in {less}, nicht zu unterscheiden in {neither} von "
        "{all:count Fall|Fällen}; p ist über alle Fälle und Paare der Kampagne angepasst."
    ),
    "A/A control: none in this campaign; `control = true` in the plan shows how far to trust the ratios.": (
        "A/A-Kontrolle: in dieser Kampagne keine; `control = true` im Plan zeigt, wie weit den Verhältnissen zu trauen "
        "ist."
    ),
    "A/A control: {name}, measured twice, was called different from itself in {wrong} of {all:count case}.": (
        "A/A-Kontrolle: {name}, zweimal gemessen, galt in {wrong} von {all:count Fall|Fällen} als von sich selbst "
        "verschieden."
    ),
    "{placement}: {n:count call}": "{placement}: {n:count Aufruf|Aufrufe}",
    "call": "Aufruf",
    "how often": "wie oft",
    "in all": "insgesamt",
    "as long as the best": "so lange wie der beste",
    "Not counted, since no operation stands for them: {names}.": (
        "Nicht gezählt, weil keine Operation dafür steht: {names}."
    ),
    "This is communication that nothing disturbs: what ranks wait for each other is not in it.": (
        "Das ist ungestörte Kommunikation: Was Ranks aufeinander warten, ist nicht darin."
    ),
}
