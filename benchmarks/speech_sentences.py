# ruff: noqa: RUF001 - letters of many scripts look like others
"""What the voices say in `benchmarks.speech`: our own sentences."""

HUNDRED = (
    "The quick studio turns one portrait and a short script into a talking video that sounds "
    "real now."
)
"""About a hundred characters, as people type for a first try."""

ENGLISH = (
    "The boat left the harbour before the sun came up.",
    "Put the blue cup on the shelf next to the window.",
    "She paid the driver and walked quickly into the rain.",
    "Nine small birds sat on the wire above our garden.",
    "The old clock in the hall strikes every half hour.",
    "Please bring fresh bread and butter from the market.",
    "A heavy truck blocked the narrow road for two days.",
    "They watched the bright fire until the wood was gone.",
    "My brother fixed the broken chair with glue and nails.",
    "The cat slept under the table while we ate dinner.",
)

# language: sentences; with hard consonants and open vowels.
MANY = {
    "en": ("Peter packed a big box of books for the boat.", "We met at the park and ate apples."),
    "es": ("Mi padre pone la mesa para la comida.", "El perro come pan y bebe agua en la playa."),
    "fr": ("Le petit chat mange dans la cuisine.", "Papa et maman habitent à Paris depuis un an."),
    "it": ("La mamma prepara la pasta con il pomodoro.", "Il bambino parla bene e mangia poco."),
    "pt": ("O menino bebe leite e come pão na mesa.", "Minha mãe mora perto da praia bonita."),
    "hi": ("मेरी माता बाज़ार से फल लाती है।", "बच्चे पार्क में मिलकर खेलते हैं।"),
    "zh": ("爸爸妈妈明天去北京看朋友。", "今天的天气很好，我们去爬山。"),
    "ja": ("母は毎朝、駅の前でパンを買います。", "今日は天気が良いので、公園で遊びましょう。"),
    "de": ("Die Mutter backt am Abend einen Apfelkuchen.", "Peter packt Bücher in die Tasche."),
    "ar": ("ذهب أبي إلى المدينة ليشتري الكتب.", "نحن نحب الماء والخبز والتمر."),
    "ru": ("Мама мыла раму, а папа читал газету.", "Мы пьём чай и едим белый хлеб с маслом."),
    "tr": ("Babam pazardan elma ve peynir aldı.", "Annem bana mavi bir kapı yaptı."),
}  # fmt: skip
