/**
 * The statements view: sentences that a list of names cannot replace. They are what the assistant stated about the work (a decision
 * with its reason, an open task, a failure, a finding) and values stated by either side. Verbatim, and found without a model. A
 * sentence that a later one replaces is marked as replaced. Bounded: the least informative are dropped first, then the oldest. Secrets
 * are left out.
 */
import { dropSecrets } from "../../base/secrets/find-secrets.ts"
import { memoize } from "../../base/work.ts"
import { type Entry, isMessage } from "../../journal/entries.ts"
import { inline, isText, isToolUse } from "../../messages/blocks.ts"
import { exactNamesIn } from "../../messages/exact-names.ts"
import { contentOf, isFromUser, type Uuid, userText } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { compareWithLater, findStatedValue, hasValue, oldValue } from "./replaced-values.ts"
import { sentenceParts, typedParts } from "./user-messages.ts"

// The sentences of a text, and what each states about the work: a decision, a failure, a finding, an open task, the next step or the
// progress. Recognised by words of several languages. The sentences are verbatim; code, tables and dumps are left out.

export type SentenceKind = "decision" | "failure" | "finding" | "open" | "next" | "progress"

export interface Sentence {
  readonly text: string
  /** Absent if the sentence is of none of these kinds. */
  readonly kind?: SentenceKind
  /** 0 if it has no kind. */
  readonly weight: number
}

const MAX_SENTENCE = 400 // characters; longer sentences are pasted text or a table
const MIN_SENTENCE = 12 // characters; shorter ones are not informative by themselves
const MIN_DENSE_SENTENCE = 5 // the same in scripts that write a word in one or two characters
const MAX_SENTENCES = 200 // a longer text is a document, represented by its start and end
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u
const FENCE = /^\s*(?:```|~~~)/
const LIST_MARK = /^(?:[-*+•>#]+|\d{1,2}[.)])\s+/
const NOT_PROSE = /^[|<{}[\]()=;/\\]|[{};]\s*$|\|.*\|/

/** A pattern for whole words in Latin, Cyrillic and Greek script. */
const words = (list: readonly string[]): string => `(?<![\\p{L}\\p{N}])(?:${list.join("|")})(?![\\p{L}\\p{N}])`
const wholeWords = (list: readonly string[], dense: readonly string[]): RegExp =>
  new RegExp(`${words(list)}|${dense.join("|")}`, "iu")

/** The first match decides. Higher weights are more important for a successor. */
const KINDS: readonly { readonly kind: SentenceKind; readonly weight: number; readonly pattern: RegExp }[] = [
  {
    kind: "failure",
    weight: 3,
    pattern: wholeWords(
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
    kind: "decision",
    weight: 3,
    pattern: wholeWords(
      [
        ...[
          "decided",
          "decision",
          "because",
          "since (?:a|an|it|its|that|the|there|they|this|we)",
          "instead of",
          "rather than",
          "chose",
          "we(?:'ll| will) (?:use|keep|go)",
        ],
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
    kind: "finding",
    weight: 2,
    pattern: wholeWords(
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
    kind: "next",
    weight: 2,
    pattern: wholeWords(
      [
        ...["next", "now i(?:'ll| will)", "then i(?:'ll| will)", "next step", "let me now", "remaining step"],
        ...["als nächstes", "nächster schritt", "danach", "ensuite", "prochaine étape", "a continuación", "siguiente"],
        ...["próximo passo", "em seguida", "prossimo passo", "volgende stap", "далее", "следующий шаг"],
      ],
      ["下一步", "接下来", "次に", "次は", "다음"],
    ),
  },
  {
    kind: "open",
    weight: 2,
    pattern: wholeWords(
      [
        ...[
          "still",
          "not yet",
          "remains?",
          "remaining",
          "left to do",
          "todo",
          "fixme",
          "open question",
          "pending",
          "unclear",
        ],
        ...["ha(?:s|ve)(?:n't| not)(?: yet)? been", "needs? to be", "must be", "follow-?up", "to be done"],
        ...["noch", "offen", "fehlt noch", "reste", "pas encore", "todavía", "falta", "ainda", "ancora", "nog niet"],
        ...["ещё", "осталось"],
      ],
      ["还没", "尚未", "剩下", "まだ", "残り", "아직", "남은"],
    ),
  },
  {
    kind: "progress",
    weight: 1,
    pattern: wholeWords(
      [
        ...["done", "finished", "complete[d]?", "passes", "passing", "works now", "implemented", "ready", "verified"],
        ...["fertig", "erledigt", "läuft", "bestanden", "terminé", "fini", "réussi", "listo", "terminado", "pronto"],
        ...["concluído", "fatto", "completato", "klaar", "готово", "сделано"],
      ],
      ["完成", "通过", "好了", "完了", "できました", "通りました", "완료", "통과"],
    ),
  },
]

/** The sentences of a text that are prose. */
export const proseSentences: (text: string) => readonly Sentence[] = memoize((text) =>
  extractProse(text).map((sentence): Sentence => {
    const found = KINDS.find(({ pattern }) => pattern.test(sentence))
    return found ? { text: sentence, kind: found.kind, weight: found.weight } : { text: sentence, weight: 0 }
  }),
)

function extractProse(text: string): readonly string[] {
  const sentences = sentenceParts(withoutCode(text))
    .map((sentence) => sentence.replace(LIST_MARK, "").trim())
    .filter(isProse)
  const half = MAX_SENTENCES / 2
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
  if (sentence.length > MAX_SENTENCE || NOT_PROSE.test(sentence)) return false
  return sentence.length >= (DENSE.test(sentence) ? MIN_DENSE_SENTENCE : MIN_SENTENCE)
}

export interface Statement {
  readonly uuid: Uuid
  readonly by: "user" | "assistant"
  /** `value`: it states a name or a number that no other sentence states. */
  readonly kind: "decision" | "failure" | "finding" | "open" | "value"
  readonly weight: number
  /** The value that it replaced. */
  readonly was?: string
}

/** An outdated sentence, and the one that replaced it. */
export interface ReplacedStatement {
  readonly uuid: Uuid
  readonly value: string
  /** The sentence that is current. */
  readonly by: string
}

export interface Statements {
  /** By their text, newest last. */
  readonly current: Map<string, Statement>
  readonly replaced: Map<string, ReplacedStatement>
}

const MAX_CURRENT = 300
const MAX_REPLACED = 200
const FORGOTTEN_SHARE = 0.1 // share of the statements that is dropped at once
const FINAL_BONUS = 1 // additional weight of an answer compared with a remark between two calls
const EXACT_BONUS = 1 // additional weight of a sentence with an exact value
const BY_USER = 2

const RECORDED_KINDS: ReadonlySet<SentenceKind> = new Set(["decision", "failure", "finding", "open"])

export const statements: Projection<Statements> = {
  name: "statements",
  scope: "path",
  start: () => ({ current: new Map(), replaced: new Map() }),
  apply(state, entry) {
    for (const { text, ...found } of findStatements(entry)) note(state, text, { ...found, uuid: entry.uuid })
    forget(state)
    return state
  },
}

type NewStatement = Omit<Statement, "uuid" | "was"> & { readonly text: string }

function findStatements(entry: Entry): readonly NewStatement[] {
  if (!isMessage(entry) || entry.isSidechain) return []
  if (entry.type === "user") {
    const inResults = (entry.saidInResults ?? []).map(({ text }) => text)
    return [...inResults, ...(isFromUser(entry) ? [userText(entry)] : [])].flatMap(userStatements)
  }
  if (entry.type !== "assistant") return []
  const blocks = contentOf(entry)
  const read = blocks.some(isToolUse) ? remarkStatements : answerStatements
  return blocks.filter(isText).flatMap(({ text }) => read(text))
}

const CHOICE = /^(?:please |always )?(?:use|run|work|deploy|put|keep|write|switch)\b/i

/** Only values of the user's sentences are recorded, because the messages themselves are shown in full. */
const userStatements = memoize((text): readonly NewStatement[] =>
  proseSentences(dropSecrets(typedParts(text).join("\n"))).flatMap(({ text: sentence, kind, weight }) => {
    const isValue = hasValue(sentence) || findStatedValue(sentence) !== undefined || CHOICE.test(sentence)
    if (!isValue && kind !== "decision") return []
    return [
      { text: sentence, by: "user", kind: "value", weight: weight + BY_USER + (hasExact(sentence) ? EXACT_BONUS : 0) },
    ]
  }),
)

const remarkStatements = memoize((text): readonly NewStatement[] => assistantStatements(text, hasExact))

/** In an answer, a sentence that names something in the code is a finding even without a signal word. */
const answerStatements = memoize((text): readonly NewStatement[] =>
  assistantStatements(text, (sentence) => hasExact(sentence) || hasIdentifier(sentence)).map((found) => ({
    ...found,
    weight: found.weight + FINAL_BONUS,
  })),
)

function assistantStatements(text: string, saysEnough: (sentence: string) => boolean): readonly NewStatement[] {
  return proseSentences(dropSecrets(text)).flatMap(({ text: sentence, kind, weight }): NewStatement[] => {
    const exact = hasExact(sentence) ? EXACT_BONUS : 0
    if (kind !== undefined && RECORDED_KINDS.has(kind))
      return [{ text: sentence, by: "assistant", kind: kind as Statement["kind"], weight: weight + exact }]
    const isStated = saysEnough(sentence) || findStatedValue(sentence)?.old !== undefined
    return isStated ? [{ text: sentence, by: "assistant", kind: "value", weight: 1 }] : []
  })
}

/** Whether a sentence has a name that cannot be guessed: a code, an address, a hash, a number with its unit. */
const hasExact = (sentence: string): boolean =>
  exactNamesIn(sentence).some(({ name, kind }) => kind !== "quoted" && kind !== "flag" && /\d/.test(name))

const hasIdentifier = (sentence: string): boolean => exactNamesIn(sentence).some(({ kind }) => kind === "identifier")

function note(state: Statements, text: string, found: Omit<NewStatement, "text"> & { readonly uuid: Uuid }): void {
  if (found.by === "assistant" && isSettledByUser(state, text)) return
  state.current.delete(text)
  state.replaced.delete(text) // stated again, so it is current again
  let was = findStatedValue(text)?.old
  for (const earlier of findReplaced(state, text, found.by)) {
    const { uuid } = state.current.get(earlier)!
    was = oldValue(earlier, text) ?? findStatedValue(earlier)?.value ?? was
    state.current.delete(earlier)
    state.replaced.set(earlier, { uuid, value: was ?? "", by: text })
  }
  state.current.set(text, was === undefined || was === "" ? found : { ...found, was })
}

/** Whether the user stated it, or replaced it. */
function isSettledByUser({ current, replaced }: Statements, text: string): boolean {
  return [text, replaced.get(text)?.by ?? text].some((stated) => current.get(stated)?.by === "user")
}

/** The statements that a new one replaces. Only the user can replace a statement of the user. */
function findReplaced({ current }: Statements, text: string, by: Statement["by"]): readonly string[] {
  const [clear, likely]: [string[], string[]] = [[], []]
  const replacementOf = compareWithLater(text)
  for (const [earlier, statement] of current) {
    if (statement.by === "user" && by !== "user") continue
    const replacement = replacementOf(earlier)
    if (replacement !== "no") (replacement === "clear" ? clear : likely).push(earlier)
  }
  return clear.length > 0 ? clear : likely.length === 1 ? likely : []
}

function forget({ current, replaced }: Statements): void {
  while (replaced.size > MAX_REPLACED) replaced.delete(replaced.keys().next().value!)
  if (current.size <= MAX_CURRENT) return
  const leastFirst = [...current].sort(([, a], [, b]) => a.weight - b.weight).slice(0, MAX_CURRENT * FORGOTTEN_SHARE)
  for (const [text] of leastFirst) current.delete(text)
}

/** Values that were replaced, unless a current sentence still has them. */
export function outdatedValues({ current, replaced }: Statements): ReadonlySet<string> {
  const now = [...current]
  const old = [...replaced.values()].map(({ value }) => value).concat(now.flatMap(([, { was }]) => was ?? []))
  return new Set(old.filter((value) => !now.some(([text, { was }]) => was !== value && text.includes(value))))
}

/** Annotates each replaced sentence in a text with the current one. */
export function annotateReplaced(text: string, { replaced }: Pick<Statements, "replaced">): string {
  let marked = text
  for (const [old, { by }] of replaced)
    if (marked.includes(old)) marked = marked.replaceAll(old, () => `${old} [replaced since: ${inline(by)}]`)
  return marked
}
