# ruff: noqa: RUF001 - letters of many scripts look like others
"""What dates, money and units are called, by language. Pure data.

Voices read plain digits well in every language; these are the words around them that they do not
know. English is missing on purpose: its voices bring their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

Names = Mapping[str, tuple[str, str]]
"""Sign -> how one is read, number included, and what stands behind any other number."""


@dataclass(frozen=True)
class NumberWords:
    """The words of one language.

    Attributes:
        months: January to December, as they stand in a date.
        date: a date out of `{day}`, `{month}` and `{year}`.
        money: names of currencies.
        units: names of units.
        cents: an amount with cents out of `{whole}`, `{unit}` and `{cents}`.
        time: a time of day out of `{hours}` and `{minutes}`; empty when voices read `14:30` well.
        days: how the days of a month are read where digits will not do, the first one first.
    """

    months: tuple[str, ...]
    date: str
    money: Names
    units: Names
    cents: str = "{whole} {unit} {cents}"
    time: str = ""
    days: tuple[str, ...] = field(default=())


def _list(words: str) -> tuple[str, ...]:
    return tuple(words.split())


def _names(table: str) -> Names:
    """`km: ein Kilometer / Kilometer` lines as a mapping."""
    names: dict[str, tuple[str, str]] = {}
    for line in table.strip().splitlines():
        sign, _, words = line.strip().partition(": ")
        one, _, many = words.partition(" / ")
        names[sign] = (one, many or one)
    return MappingProxyType(names)


_GERMAN = NumberWords(
    months=_list(
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"
    ),
    date="{day} {month} {year}",
    days=_list(
        "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt"
        " fünfzehnt sechzehnt siebzehnt achtzehnt neunzehnt zwanzigst einundzwanzigst"
        " zweiundzwanzigst dreiundzwanzigst vierundzwanzigst fünfundzwanzigst sechsundzwanzigst"
        " siebenundzwanzigst achtundzwanzigst neunundzwanzigst dreißigst einunddreißigst"
    ),
    time="{hours} Uhr {minutes}",
    money=_names("""
        €: ein Euro / Euro
        EUR: ein Euro / Euro
        $: ein Dollar / Dollar
        £: ein Pfund / Pfund
        CHF: ein Franken / Franken"""),
    units=_names("""
        km/h: ein Kilometer pro Stunde / Kilometer pro Stunde
        km: ein Kilometer / Kilometer
        m: ein Meter / Meter
        cm: ein Zentimeter / Zentimeter
        mm: ein Millimeter / Millimeter
        kg: ein Kilogramm / Kilogramm
        g: ein Gramm / Gramm
        °C: ein Grad Celsius / Grad Celsius"""),
)
_FRENCH = NumberWords(
    months=_list(
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
    ),
    date="{day} {month} {year}",
    days=("premier",),
    time="{hours} heures {minutes}",
    money=_names("""
        €: un euro / euros
        EUR: un euro / euros
        $: un dollar / dollars
        £: une livre / livres
        CHF: un franc / francs"""),
    units=_names("""
        km/h: un kilomètre à l'heure / kilomètres à l'heure
        km: un kilomètre / kilomètres
        m: un mètre / mètres
        cm: un centimètre / centimètres
        mm: un millimètre / millimètres
        kg: un kilo / kilos
        g: un gramme / grammes
        °C: un degré / degrés"""),
)
_SPANISH = NumberWords(
    months=_list(
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
    date="{day} de {month} de {year}",
    cents="{whole} {unit} con {cents}",
    money=_names("""
        €: un euro / euros
        EUR: un euro / euros
        $: un dólar / dólares
        £: una libra / libras"""),
    units=_names("""
        km/h: un kilómetro por hora / kilómetros por hora
        km: un kilómetro / kilómetros
        m: un metro / metros
        cm: un centímetro / centímetros
        mm: un milímetro / milímetros
        kg: un kilo / kilos
        g: un gramo / gramos
        °C: un grado / grados"""),
)
_ITALIAN = NumberWords(
    months=_list(
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre"
        " dicembre"
    ),
    date="{day} {month} {year}",
    days=("primo",),
    cents="{whole} {unit} e {cents}",
    money=_names("""
        €: un euro / euro
        EUR: un euro / euro
        $: un dollaro / dollari
        £: una sterlina / sterline"""),
    units=_names("""
        km/h: un chilometro all'ora / chilometri all'ora
        km: un chilometro / chilometri
        m: un metro / metri
        cm: un centimetro / centimetri
        mm: un millimetro / millimetri
        kg: un chilo / chili
        g: un grammo / grammi
        °C: un grado / gradi"""),
)
_PORTUGUESE = NumberWords(
    months=_list(
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
    ),
    date="{day} de {month} de {year}",
    days=("primeiro",),
    cents="{whole} {unit} e {cents}",
    money=_names("""
        R$: um real / reais
        €: um euro / euros
        EUR: um euro / euros
        US$: um dólar / dólares
        $: um dólar / dólares
        £: uma libra / libras"""),
    units=_names("""
        km/h: um quilômetro por hora / quilômetros por hora
        km: um quilômetro / quilômetros
        m: um metro / metros
        cm: um centímetro / centímetros
        mm: um milímetro / milímetros
        kg: um quilo / quilos
        g: um grama / gramas
        °C: um grau / graus"""),
)
_DUTCH = NumberWords(
    months=_list(
        "januari februari maart april mei juni juli augustus september oktober november december"
    ),
    date="{day} {month} {year}",
    time="{hours} uur {minutes}",
    money=_names("""
        €: één euro / euro
        EUR: één euro / euro
        $: één dollar / dollar
        £: één pond / pond"""),
    units=_names("""
        km/h: één kilometer per uur / kilometer per uur
        km: één kilometer / kilometer
        m: één meter / meter
        cm: één centimeter / centimeter
        kg: één kilo / kilo
        g: één gram / gram
        °C: één graad / graden"""),
)
_SWEDISH = NumberWords(
    months=_list(
        "januari februari mars april maj juni juli augusti september oktober november december"
    ),
    date="{day} {month} {year}",
    money=_names("""
        kr: en krona / kronor
        €: en euro / euro
        $: en dollar / dollar"""),
    units=_names("""
        km/h: en kilometer i timmen / kilometer i timmen
        km: en kilometer / kilometer
        m: en meter / meter
        cm: en centimeter / centimeter
        kg: ett kilo / kilo
        g: ett gram / gram
        °C: en grad / grader"""),
)
_TURKISH = NumberWords(
    months=_list("Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık"),
    date="{day} {month} {year}",
    money=_names("""
        ₺: 1 lira / lira
        TL: 1 lira / lira
        €: 1 avro / avro
        $: 1 dolar / dolar"""),
    units=_names("""
        km/h: 1 kilometre / kilometre
        km: 1 kilometre / kilometre
        m: 1 metre / metre
        cm: 1 santimetre / santimetre
        kg: 1 kilo / kilo
        g: 1 gram / gram
        °C: 1 derece / derece"""),
)
_HINDI = NumberWords(
    months=_list("जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर"),
    date="{day} {month} {year}",
    cents="{whole} {unit} {cents} पैसे",
    money=_names("""
        ₹: एक रुपया / रुपये
        $: एक डॉलर / डॉलर
        €: एक यूरो / यूरो"""),
    units=_names("""
        km: एक किलोमीटर / किलोमीटर
        m: एक मीटर / मीटर
        cm: एक सेंटीमीटर / सेंटीमीटर
        kg: एक किलो / किलो
        g: एक ग्राम / ग्राम
        °C: एक डिग्री / डिग्री"""),
)

NUMBER_WORDS: Mapping[str, NumberWords] = MappingProxyType(
    {
        "de": _GERMAN,
        "fr": _FRENCH,
        "es": _SPANISH,
        "it": _ITALIAN,
        "pt": _PORTUGUESE,
        "nl": _DUTCH,
        "sv": _SWEDISH,
        "tr": _TURKISH,
        "hi": _HINDI,
    }
)
