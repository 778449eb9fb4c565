import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { factsAboutTheUser, isAboutTheUser } from "./about-the-user.ts"
import { lastingRules } from "./lasting-rules.ts"

describe("L5-14 lasting rules: addressed to the agent, about how to work from now on", () => {
  test.each([
    "Always use tabs, because our linter wants them.",
    "Always translate my questions: never answer in English.",
    "Write a test for every bug you fix, and always run it.",
    "Always write a poem with four lines.",
    "Never push to main, as I said.",
    "Use tabs: always, everywhere.",
    "When I ask about a medicine, include its side effects.",
    "I prefer short paragraphs to bullet points.",
    "Could you always show the units?",
    "Antworte mir bitte immer auf Deutsch.",
    "Réponds-moi toujours en français.",
    "De ahora en adelante, da los precios en euros.",
    "Никогда не используй эмодзи в ответах.",
    "以后提交信息一律用英文写。",
    "今後はタブを使ってください。",
    "앞으로 탭을 사용해 주세요.",
    "من الآن فصاعدًا، اكتب الأسعار باليورو.",
  ])("%s", (text) => expect(lastingRules(text)).toEqual([text]))

  test.each([
    ["a question", "How can I make sure my chart renders?"],
    ["what they try", "I'm trying to make sure that the chart always renders."],
    ["a task", "Write a function that never returns null."],
    ["a wish about this task", "Please keep the comments in this file."],
    ["a quotation", 'The README says "always run make clean first".'],
    ["a quoted line", "> Always run make clean first."],
    ["code", "```\n# never push to main\n```"],
    ["someone else's words", "My boss told me to always copy him."],
    ["the past", "I always wanted to learn the cello."],
    ["what would be", "If we always did that, it would be slow."],
    ["what something does", "The server always returns a 500."],
    ["a text to translate", "Translate: never give up."],
    ["a text to translate into a language", "Please translate into German: always look on the bright side."],
    ["a text without a colon", "Translate never give up into French."],
    ["a text to correct, in German", "Übersetze ins Englische: Gib niemals auf."],
    ["a text to translate, in French", "Traduis : ne jamais abandonner."],
    ["a text to translate, in Spanish", "Traduce al inglés: nunca te rindas."],
    ["a text to translate, in Portuguese", "Traduza: nunca desista."],
    ["a text to translate, in Italian", "Traduci: non mollare mai."],
    ["a text to translate, in Dutch", "Vertaal: geef nooit op."],
    ["a text to translate, in Russian", "Переведи: никогда не сдавайся."],
    ["a text to translate, in Chinese", "翻译成英文：永远不要放弃。"],
    ["a text to translate, in Japanese", "次の文を英語に翻訳して：決してあきらめないで。"],
    ["a text to translate, in Korean", "영어로 번역해 줘: 절대 포기하지 마."],
    ["a text to translate, in Arabic", "ترجم: لا تستسلم أبدا."],
    ["what a poem is about", "Write a poem about how to always be kind."],
    ["what a story is about", "Tell me a story about a fox who must never lie."],
    ["what a list is about", "Give me ten tips on how to never be late."],
    ["what a poem is about, in German", "Schreibe ein Gedicht darüber, immer freundlich zu sein."],
    ["what a poem is about, in French", "Écris un poème sur comment toujours rester gentil."],
    ["what a poem is about, in Spanish", "Escribe un poema sobre cómo ser siempre amable."],
    ["what a poem is about, in Portuguese", "Escreva um poema sobre como ser sempre gentil."],
    ["what a poem is about, in Italian", "Scrivi una poesia su come essere sempre gentili."],
    ["what a poem is about, in Dutch", "Schrijf een gedicht over altijd aardig zijn."],
    ["what a poem is about, in Russian", "Напиши стихотворение о том, как всегда быть добрым."],
    ["what a poem is about, in Chinese", "写一首关于永远保持善良的诗。"],
    ["what a poem is about, in Japanese", "いつも優しくいることについての詩を書いて。"],
    ["what a poem is about, in Korean", "항상 친절하게 사는 것에 대한 시를 써 줘."],
    ["what a poem is about, in Arabic", "اكتب قصيدة عن اللطف دائما."],
    ["a father's words", "Always wear a helmet, my dad says."],
    ["a friend's words", "Never trust a cat, as Maria always says."],
    ["a proverb's author", "Always forgive your enemies – according to Oscar Wilde."],
    ["someone's words, in German", "Immer einen Helm tragen, sagt mein Vater."],
    ["someone's words, in French", "Toujours porter un casque, dit mon père."],
    ["someone's words, in Spanish", "Lleva siempre casco, dice mi padre."],
    ["someone's words, in Russian", "Всегда носи шлем, говорит мой отец."],
  ])("not %s", (_, text) => expect(lastingRules(text)).toEqual([]))

  test("only the sentence, as it was typed; a bare prohibition next to a task is about the task", () => {
    expect(lastingRules("Fix the test. Never mock the database in tests!  Thanks.")).toEqual([
      "Never mock the database in tests!",
    ])
    expect(lastingRules("Do not use external packages.")).toEqual(["Do not use external packages."])
    expect(lastingRules("Write a parser for dates. Do not use external packages.")).toEqual([])
  })

  test("any text: what is found is part of it, also in a megabyte of hostile text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 300 }), (text) => {
        for (const rule of lastingRules(`${text} always use ${text}`))
          expect(`${text} always use ${text}`).toContain(rule)
      }),
    )
    const hostile = `${"when I ask about all of your answers, so and but always ".repeat(30)}\n`.repeat(600)
    for (const rule of lastingRules(hostile)) expect(hostile).toContain(rule)
  })
})

describe("L5-14 preferences are kept like rules", () => {
  test.each([
    ["I prefer tea, so can you name a shop?", "I prefer tea"],
    ["I'm planning a trip, and I prefer trains to planes, how do I get to Bari", "I prefer trains to planes"],
    ["I prefer short chapters, but I'm not sure why.", "I prefer short chapters, but I'm not sure why."],
    ["I picked Helix last year, and I prefer it to Vim.", "I picked Helix last year, and I prefer it to Vim."],
    ["I'd rather walk than take the bus.", "I'd rather walk than take the bus."],
    ["I hate phone calls.", "I hate phone calls."],
    ["No emojis please", "No emojis please"],
    ["Short answers, please.", "Short answers, please."],
    ["Ich lese lieber auf Papier, kannst du mir helfen?", "Ich lese lieber auf Papier"],
    ["Pas d'emojis, s'il te plaît.", "Pas d'emojis, s'il te plaît."],
    ["Sin tablas, por favor.", "Sin tablas, por favor."],
    ["Без таблиц, пожалуйста.", "Без таблиц, пожалуйста."],
    ["我不喜欢恐怖片。", "我不喜欢恐怖片。"],
  ])("%s", (text, kept) => expect(lastingRules(text)).toEqual([kept]))

  test.each([
    "I prefer the second version.",
    "I'd rather use the first draft.",
    "I love that idea.",
    "I hate this bug.",
    "Another example, please.",
    "A table for the numbers, please.",
    "I'll look around, ask my sister for suggestions, and decide.",
    "Can you check whether it holds if I change the sign?",
    "Let me know if you have any suggestions.",
  ])("not: %s", (text) => expect(lastingRules(text)).toEqual([]))

  test("next to a task, what is not to be in it is about the task", () => {
    expect(lastingRules("Write a poem about rain. No rhymes please.")).toEqual([])
    expect(lastingRules("No rhymes please.")).toEqual(["No rhymes please."])
  })
})

describe("L5-2 who the user is", () => {
  test.each([
    "I am a nurse in Oslo.",
    "I'm new to Rust.",
    "I'm vegetarian.",
    "I'm 34.",
    "I know Rust and Go well.",
    "I moved to Berlin.",
    "My daughter is Lea.",
    "My name is Ana.",
    "Ich arbeite bei der Bahn.",
    "J'habite à Nantes.",
  ])("%s", (text) => expect(isAboutTheUser(text)).toBe(true))

  test.each([
    "I'm trying to build a dashboard.",
    "I'm not sure.",
    "I am stuck here.",
    "I'm a bit stuck.",
    "I'm 87.5% done.",
    "I'm going to the shop.",
    "I know the formula is right, but I don't see why.",
    "I moved to the next step.",
    "I practiced the first song.",
    "My daughter is sick today.",
    "Ich bin etwas verloren.",
    "Je suis prêt.",
  ])("not: %s", (text) => expect(isAboutTheUser(text)).toBe(false))

  test("without the question in the same sentence, and not from code", () => {
    expect(factsAboutTheUser("I live in Lyon, which tram goes to the airport?")).toEqual(["I live in Lyon"])
    expect(factsAboutTheUser("```\nI am a comment.\n```")).toEqual([])
  })
})
