/**
 * What the assistant's sentences say about the work: what was decided and why, what did not work, what was found, how far it is and what
 * comes next. Sentences are ranked by what they say, where they are and how much in them is new. They are quoted, never written.
 */
import type { Steps } from "../../base/in-slices.ts"
import { remembering } from "../../base/remembering.ts"
import { sentencesOf } from "./text-parts.ts"
import type { Moment } from "./timeline.ts"

export type Telling = "decided" | "dead end" | "found" | "how far" | "open" | "next"

export interface Said {
  readonly telling: Telling
  readonly words: string
}

export interface Meaning {
  /** In the order of the conversation; of each kind the best. */
  readonly said: readonly Said[]
  /** By file name without directory: the newest sentence that mentions it. */
  readonly aboutFiles: ReadonlyMap<string, string>
}

const MOST_OF_A_KIND = 12
const LONGEST_SENTENCE = 400 // characters; more is pasted text or a table
const SHORTEST_SENTENCE = 12 // characters; less says nothing on its own
const SHORTEST_DENSE = 5 // the same in scripts that write a word in one or two characters
const MOST_SENTENCES_OF_A_TEXT = 200 // a longer text is a document, and its beginning and end say what it is
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const TERM = /\p{L}{4,}|\p{N}{2,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2}/gu
const FENCE = /^\s*(?:```|~~~)/
const LIST_MARK = /^(?:[-*+•>#]+|\d{1,2}[.)])\s+/
const NOT_PROSE = /^[|<{}[\]()=;/\\]|[{};]\s*$|\|.*\|/
const FILE_NAME = /[\w@-]{1,80}(?:\.[\w-]{1,40})*\.[a-z]\w{0,5}\b/gi

/** Whole words in Latin, Cyrillic and Greek script. */
const words = (list: readonly string[]): string => `(?<![\\p{L}\\p{N}])(?:${list.join("|")})(?![\\p{L}\\p{N}])`
const tells = (list: readonly string[], dense: readonly string[]): RegExp =>
  new RegExp(`${words(list)}|${dense.join("|")}`, "iu")

/** A sentence tells what the first match says. Weights: what a successor can least do without comes first. */
const TELLINGS: readonly { readonly telling: Telling; readonly weight: number; readonly pattern: RegExp }[] = [
  {
    telling: "dead end",
    weight: 3,
    pattern: tells(
      [
        ...["did(?:n't| not) (?:work|help)", "does(?:n't| not) (?:work|help)", "dead end", "gave up", "ruled out"],
        ...[
          "reverted?",
          "rolled back",
          "turned out",
          "no longer works",
          "made it worse",
          "not possible",
          "can(?:'t|not)",
        ],
        ...["funktioniert nicht", "ging nicht", "klappt nicht", "sackgasse", "hat nicht geholfen"],
        ...["ne (?:marche|fonctionne) pas", "n'a pas (?:marché|fonctionné|aidé)", "impasse"],
        ...["no funciona", "no funcionó", "não funciona", "não funcionou", "non funziona", "werkt niet"],
        ...["не работает", "не помогло", "тупик"],
      ],
      ["行不通", "不起作用", "没有用", "失败了", "うまくいか", "動かな", "効果がな", "작동하지", "안 됩니다", "실패"],
    ),
  },
  {
    telling: "decided",
    weight: 3,
    pattern: tells(
      [
        ...["decided", "decision", "because", "instead of", "rather than", "chose", "we(?:'ll| will) (?:use|keep|go)"],
        ...["i(?:'ll| will) (?:use|keep|go with)", "the reason", "so that", "in favou?r of", "trade-?off"],
        ...["entschieden", "entscheidung", "weil", "statt", "stattdessen", "deshalb", "deswegen"],
        ...["décidé", "parce que", "plutôt que", "au lieu", "decidid[oa]", "porque", "en lugar de", "en vez de"],
        ...["decidi(?:mos|do|u)?", "em vez de", "perché", "deciso", "invece di", "besloten", "omdat", "in plaats van"],
        ...["решили", "решил", "потому что", "вместо"],
      ],
      ["因为", "决定", "而不是", "因為", "決定", "ため", "ので", "ことにし", "代わりに", "때문", "결정", "대신"],
    ),
  },
  {
    telling: "found",
    weight: 2,
    pattern: tells(
      [
        ...[
          "root cause",
          "the cause",
          "caused by",
          "the (?:problem|bug|issue|error|failure|culprit) (?:is|was)",
          "found",
        ],
        ...["the fix", "fixed", "it fails", "fails? (?:because|with|when)", "regression"],
        ...["ursache", "grund", "fehler", "gefunden", "behoben", "cause", "erreur", "corrigé", "trouvé"],
        ...["causa", "fallo", "corregido", "encontr[éeo]", "erro", "corrigido", "errore", "corretto", "oorzaak"],
        ...["причина", "ошибка", "исправил", "нашёл", "нашел"],
      ],
      ["原因", "问题是", "修复", "错误", "修正", "エラー", "問題は", "원인", "수정", "오류"],
    ),
  },
  {
    telling: "next",
    weight: 2,
    pattern: tells(
      [
        ...["next", "now i(?:'ll| will)", "then i(?:'ll| will)", "next step", "let me now", "remaining step"],
        ...["als nächstes", "nächster schritt", "danach", "ensuite", "prochaine étape", "a continuación", "siguiente"],
        ...["próximo passo", "em seguida", "prossimo passo", "volgende stap", "далее", "следующий шаг"],
      ],
      ["下一步", "接下来", "次に", "次は", "다음"],
    ),
  },
  {
    telling: "open",
    weight: 2,
    pattern: tells(
      [
        ...["still", "not yet", "remains?", "remaining", "left to do", "todo", "open question", "pending", "unclear"],
        ...["noch", "offen", "fehlt noch", "reste", "pas encore", "todavía", "falta", "ainda", "ancora", "nog niet"],
        ...["ещё", "осталось"],
      ],
      ["还没", "尚未", "剩下", "まだ", "残り", "아직", "남은"],
    ),
  },
  {
    telling: "how far",
    weight: 1,
    pattern: tells(
      [
        ...["done", "finished", "complete[d]?", "passes", "passing", "works now", "implemented", "ready", "verified"],
        ...["fertig", "erledigt", "läuft", "bestanden", "terminé", "fini", "réussi", "listo", "terminado", "pronto"],
        ...["concluído", "fatto", "completato", "klaar", "готово", "сделано"],
      ],
      ["完成", "通过", "好了", "完了", "できました", "通りました", "완료", "통과"],
    ),
  },
]

interface Ranked extends Said {
  readonly at: number
  readonly score: number
}

export function* meaningSteps(moments: readonly Moment[]): Steps<Meaning> {
  const texts = moments.flatMap((moment, at) => (moment.kind === "assistant" ? [{ ...moment, at }] : []))
  const known = new Set<string>()
  const quoted = new Set<string>()
  const ranked: Ranked[] = []
  const aboutFiles = new Map<string, string>()
  let count = 0
  for (const [index, { text, at }] of texts.entries()) {
    const next = moments[at + 1]
    const endsTurn = next === undefined || next.kind === "human"
    const place = (endsTurn ? 1 : 0) + (index + 1) / texts.length
    for (const { sentence, names, terms, found } of readProse(text).sentences) {
      for (const name of names) aboutFiles.set(name, sentence)
      const novelty = newShare(terms, known)
      if (!found || quoted.has(sentence)) continue
      quoted.add(sentence)
      ranked.push({ telling: found.telling, words: sentence, at: count++, score: found.weight + place + novelty })
    }
    yield
  }
  return { said: bestOf(ranked), aboutFiles }
}

/** Everything about a text that does not depend on where it is. */
const readProse = remembering((text) => ({
  sentences: proseIn(text).map((sentence) => ({
    sentence,
    names: sentence.match(FILE_NAME) ?? [],
    terms: sentence.toLowerCase().match(TERM) ?? [],
    found: TELLINGS.find(({ pattern }) => pattern.test(sentence)),
  })),
}))

function bestOf(ranked: readonly Ranked[]): readonly Said[] {
  const kinds = Map.groupBy(ranked, ({ telling }) => telling)
  return [...kinds.values()]
    .flatMap((kind) => kind.toSorted((a, b) => b.score - a.score || b.at - a.at).slice(0, MOST_OF_A_KIND))
    .sort((a, b) => a.at - b.at)
    .map(({ telling, words }) => ({ telling, words }))
}

/** The sentences of a text that people would read aloud: no code, no tables, no dumps. */
function proseIn(text: string): readonly string[] {
  const sentences = sentencesOf(withoutCode(text))
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter(isProse)
  const half = MOST_SENTENCES_OF_A_TEXT / 2
  return sentences.length <= 2 * half ? sentences : [...sentences.slice(0, half), ...sentences.slice(-half)]
}

function withoutCode(text: string): string {
  let isCode = false
  const lines = text.split("\n").filter((line) => {
    if (!FENCE.test(line)) return !isCode
    isCode = !isCode
    return false
  })
  return lines.join("\n")
}

function isProse(sentence: string): boolean {
  if (sentence.length > LONGEST_SENTENCE || NOT_PROSE.test(sentence)) return false
  return sentence.length >= (DENSE.test(sentence) ? SHORTEST_DENSE : SHORTEST_SENTENCE)
}

/** Share of its terms that no sentence before it had. */
function newShare(terms: readonly string[], known: Set<string>): number {
  let fresh = 0
  for (const term of terms) {
    if (known.has(term)) continue
    known.add(term)
    fresh++
  }
  return terms.length === 0 ? 0 : fresh / terms.length
}
