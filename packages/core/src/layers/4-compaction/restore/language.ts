/** Step 5, restore. The language that a user writes in. */

const MESSAGES_LOOKED_AT = 50 // the newest: people who change their language do not change back after one message
const CHARACTERS_LOOKED_AT = 1_000 // of a message: what follows is mostly pasted

interface Script {
  readonly letters: RegExp
  /** How much a letter counts compared to Latin ones: texts of every script contain program names and English terms. */
  readonly weight: number
  languageOf(text: string): string | undefined
}

const one = (language: string) => () => language

const SCRIPTS: readonly Script[] = [
  { letters: /\p{Script=Latin}/gu, weight: 1, languageOf: byWords },
  {
    letters: /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu,
    weight: 4, // a character is half a word
    languageOf: (text) => (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text) ? "Japanese" : "Chinese"),
  },
  { letters: /\p{Script=Hangul}/gu, weight: 3, languageOf: one("Korean") },
  { letters: /\p{Script=Cyrillic}/gu, weight: 2, languageOf: cyrillic },
  { letters: /\p{Script=Arabic}/gu, weight: 2, languageOf: arabic },
  { letters: /\p{Script=Hebrew}/gu, weight: 2, languageOf: one("Hebrew") },
  { letters: /\p{Script=Greek}/gu, weight: 2, languageOf: one("Greek") },
  { letters: /\p{Script=Devanagari}/gu, weight: 2, languageOf: one("Hindi") },
  { letters: /\p{Script=Thai}/gu, weight: 2, languageOf: one("Thai") },
]

const FREQUENT: Readonly<Record<string, ReadonlySet<string>>> = Object.fromEntries(
  Object.entries({
    English: "the and is are to of it that you this with for not what please can how does should from why my all",
    German:
      "der die das und ist nicht ein eine ich du mit auf für auch bitte wie was den zu im immer nie noch aber sind",
    French: "le la les et est pas un une je tu vous pour dans que qui des avec sur ce il ne toujours jamais du au",
    Spanish: "el la los las y es un una que por para con en lo se como más siempre nunca favor esto está del al",
    Portuguese: "o a os as e é não um uma que por para com em do da se como mais sempre você está isso ao",
    Italian: "il lo la gli e è non un una che per con di in del della sono come più sempre mai questo anche",
    Dutch: "de het een en is niet ik je met op voor ook dat van wat altijd nooit maar zijn deze",
    Polish: "i w nie na jest się to z że do jak co czy proszę zawsze nigdy dla od jako",
    Turkish: "ve bir bu için değil ne mi da ile çok her zaman asla lütfen gibi var yok",
    Swedish: "och är inte en ett jag du med på för det som att alltid aldrig av till",
  }).map(([language, words]) => [language, new Set(words.split(" "))]),
)

/**
 * Which language a person writes, judged by the script and by a few words that every text in the language has. Each message has one vote.
 * Code does not count, and a message without a clear language does not vote. Deterministic, and silent rather than wrong. `texts` oldest
 * first. On a tie the language used last wins. `undefined`: it is not clear.
 */
export function languageOf(texts: readonly string[]): string | undefined {
  const votes = new Map<string, number>()
  for (const text of texts.slice(-MESSAGES_LOOKED_AT).toReversed()) {
    const language = languageOfOne(text)
    if (language !== undefined) votes.set(language, (votes.get(language) ?? 0) + 1)
  }
  return best(votes, "the first counts")
}

function languageOfOne(text: string): string | undefined {
  const prose = withoutCode(text.slice(0, CHARACTERS_LOOKED_AT))
  const sizes = SCRIPTS.map((script) => [script, (prose.match(script.letters)?.length ?? 0) * script.weight] as const)
  return best(new Map(sizes), "the first counts")?.languageOf(prose)
}

/** Code, paths, addresses and names with symbols are the same in every language. */
function withoutCode(text: string): string {
  return text.replace(/`{3}[\s\S]*?(?:`{3}|$)|`[^`\n]*`/g, " ").replace(/[!-~]*(?:[/\\_=<>@#]|\.\w)[!-~]*/g, " ")
}

function byWords(text: string): string | undefined {
  const found = text.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? []
  const hits = Object.entries(FREQUENT).map(
    ([language, words]) => [language, found.filter((word) => words.has(word)).length] as const,
  )
  return best(new Map(hits), "none counts")
}

function cyrillic(text: string): string | undefined {
  if (/[іїєґ]/i.test(text)) return "Ukrainian"
  const isRussian = /[ыэё]|(?<!\p{L})(?:и|в|не|что|это|как|всегда|никогда|пожалуйста|файл\p{L}*)(?!\p{L})/iu.test(text)
  return isRussian ? "Russian" : undefined
}

function arabic(text: string): string {
  if (/[ٹڈڑے]/.test(text)) return "Urdu"
  return /[پچژگ]/.test(text) ? "Persian" : "Arabic"
}

/** The key with the highest count; `undefined` where all are zero. */
function best<Key>(counts: ReadonlyMap<Key, number>, onTie: "the first counts" | "none counts"): Key | undefined {
  const most = Math.max(0, ...counts.values())
  const leaders = [...counts].filter(([, count]) => count === most)
  return most === 0 || (leaders.length > 1 && onTie === "none counts") ? undefined : leaders[0]![0]
}
