/**
 * The statements view: sentences that a list of names cannot replace. What the assistant said about the work (a decision with its reason, an
 * open task, a failure, a finding) and what either side said a value is. Verbatim and without a model. A sentence that a later one replaces
 * is kept as replaced. Bounded: what says least is forgotten first, then the oldest. Secrets are left out.
 */
import { remembering } from "../../base/remembering.ts"
import { dropSecrets } from "../../base/secrets/find-secrets.ts"
import { type Entry, isMessage } from "../../journal/entries.ts"
import { isText, isToolUse } from "../../messages/blocks.ts"
import { exactNamesIn } from "../../messages/exact-names.ts"
import { inline } from "../../messages/inline.ts"
import { contentOf, isHuman, spokenText, type Uuid } from "../../messages/messages.ts"
import type { Projection } from "../projection.ts"
import { proseSentences, type SentenceKind } from "./prose.ts"
import { hasValue, oldValue, replacementBy, valueStatedIn } from "./replaced-values.ts"
import { typedPieces } from "./typed-text.ts"

export interface Statement {
  readonly uuid: Uuid
  readonly by: "user" | "assistant"
  /** `value`: it states a name or a number that nothing else says. */
  readonly kind: "decision" | "failure" | "finding" | "open" | "value"
  readonly weight: number
  /** The value that it replaced. */
  readonly was?: string
}

/** A sentence that is outdated, and what says so. */
export interface ReplacedStatement {
  readonly uuid: Uuid
  readonly value: string
  /** The sentence that counts now. */
  readonly by: string
}

export interface Statements {
  /** By their text, the newest last. */
  readonly current: Map<string, Statement>
  readonly replaced: Map<string, ReplacedStatement>
}

const MAX_CURRENT = 300
const MAX_REPLACED = 200
const FORGOTTEN = 0.1 // of the statements at once
const FINAL = 1 // how much more an answer says than a remark between two calls
const EXACT = 1 // how much more a sentence says that has an exact value
const BY_USER = 2

const KEPT_KINDS: ReadonlySet<SentenceKind> = new Set(["decision", "failure", "finding", "open"])

export const statements: Projection<Statements> = {
  name: "statements",
  scope: "path",
  whenRead: true,
  start: () => ({ current: new Map(), replaced: new Map() }),
  apply(state, entry) {
    for (const { text, ...found } of statedIn(entry)) note(state, text, { ...found, uuid: entry.uuid })
    forget(state)
    return state
  },
}

type Found = Omit<Statement, "uuid" | "was"> & { readonly text: string }

function statedIn(entry: Entry): readonly Found[] {
  if (!isMessage(entry) || entry.isSidechain) return []
  if (entry.type === "user") {
    const said = (entry.saidInResults ?? []).map(({ text }) => text)
    return [...said, ...(isHuman(entry) ? [spokenText(entry)] : [])].flatMap(saidByUser)
  }
  if (entry.type !== "assistant") return []
  const blocks = contentOf(entry)
  const read = blocks.some(isToolUse) ? saidBetweenCalls : saidInAnswer
  return blocks.filter(isText).flatMap(({ text }) => read(text))
}

const CHOICE = /^(?:please |always )?(?:use|run|work|deploy|put|keep|write|switch)\b/i

/** The rest of what a person said is shown in their messages. */
const saidByUser = remembering((text): readonly Found[] =>
  proseSentences(dropSecrets(typedPieces(text).join("\n"))).flatMap(({ text: sentence, kind, weight }) => {
    const isValue = hasValue(sentence) || valueStatedIn(sentence) !== undefined || CHOICE.test(sentence)
    if (!isValue && kind !== "decision") return []
    return [{ text: sentence, by: "user", kind: "value", weight: weight + BY_USER + (hasExact(sentence) ? EXACT : 0) }]
  }),
)

const saidBetweenCalls = remembering((text): readonly Found[] => saidByAssistant(text, hasExact))

/** An answer that names something of the code says what was found, also without a word for it. */
const saidInAnswer = remembering((text): readonly Found[] =>
  saidByAssistant(text, (sentence) => hasExact(sentence) || hasIdentifier(sentence)).map((found) => ({
    ...found,
    weight: found.weight + FINAL,
  })),
)

function saidByAssistant(text: string, saysEnough: (sentence: string) => boolean): readonly Found[] {
  return proseSentences(dropSecrets(text)).flatMap(({ text: sentence, kind, weight }): Found[] => {
    const exact = hasExact(sentence) ? EXACT : 0
    if (kind !== undefined && KEPT_KINDS.has(kind))
      return [{ text: sentence, by: "assistant", kind: kind as Statement["kind"], weight: weight + exact }]
    const isStated = saysEnough(sentence) || valueStatedIn(sentence)?.old !== undefined
    return isStated ? [{ text: sentence, by: "assistant", kind: "value", weight: 1 }] : []
  })
}

/** Whether it has a name that no one could guess: a code, an address, a hash, a number with its unit. */
const hasExact = (sentence: string): boolean =>
  exactNamesIn(sentence).some(({ name, kind }) => kind !== "quoted" && kind !== "flag" && /\d/.test(name))

const hasIdentifier = (sentence: string): boolean => exactNamesIn(sentence).some(({ kind }) => kind === "identifier")

function note(state: Statements, text: string, found: Omit<Found, "text"> & { readonly uuid: Uuid }): void {
  if (found.by === "assistant" && isSettledByUser(state, text)) return
  state.current.delete(text)
  state.replaced.delete(text) // said again, so it counts again
  let was = valueStatedIn(text)?.old
  for (const earlier of replacedBy(state, text, found.by)) {
    const { uuid } = state.current.get(earlier)!
    was = oldValue(earlier, text) ?? valueStatedIn(earlier)?.value ?? was
    state.current.delete(earlier)
    state.replaced.set(earlier, { uuid, value: was ?? "", by: text })
  }
  state.current.set(text, was === undefined || was === "" ? found : { ...found, was })
}

/** Whether the user said it, or took it back. */
function isSettledByUser({ current, replaced }: Statements, text: string): boolean {
  return [text, replaced.get(text)?.by ?? text].some((said) => current.get(said)?.by === "user")
}

/** What the user said, only the user takes back. */
function replacedBy({ current }: Statements, text: string, by: Statement["by"]): readonly string[] {
  const [clear, likely]: [string[], string[]] = [[], []]
  const replacementOf = replacementBy(text)
  for (const [earlier, said] of current) {
    if (said.by === "user" && by !== "user") continue
    const replacement = replacementOf(earlier)
    if (replacement !== "no") (replacement === "clear" ? clear : likely).push(earlier)
  }
  return clear.length > 0 ? clear : likely.length === 1 ? likely : []
}

function forget({ current, replaced }: Statements): void {
  while (replaced.size > MAX_REPLACED) replaced.delete(replaced.keys().next().value!)
  if (current.size <= MAX_CURRENT) return
  const leastFirst = [...current].sort(([, a], [, b]) => a.weight - b.weight).slice(0, MAX_CURRENT * FORGOTTEN)
  for (const [text] of leastFirst) current.delete(text)
}

/** Values that were replaced, unless a current sentence still has them. */
export function outdatedValues({ current, replaced }: Statements): ReadonlySet<string> {
  const now = [...current]
  const old = [...replaced.values()].map(({ value }) => value).concat(now.flatMap(([, { was }]) => was ?? []))
  return new Set(old.filter((value) => !now.some(([text, { was }]) => was !== value && text.includes(value))))
}

/** A text in which each sentence that was replaced says so, with what counts now. */
export function markReplaced(text: string, { replaced }: Pick<Statements, "replaced">): string {
  let marked = text
  for (const [old, { by }] of replaced)
    if (marked.includes(old)) marked = marked.replaceAll(old, () => `${old} [replaced since: ${inline(by)}]`)
  return marked
}
