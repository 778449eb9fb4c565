/**
 * Step 4, check. Claims about what the user wrote. A quote must come from the user: omissions are allowed, other words are not. An approval
 * must have been given by the user.
 */

import type { AuditSource, UserTurn } from "./source.ts"
import {
  contentWords,
  isNegated,
  isStopWord,
  joinTokens,
  type NameClass,
  namesIn,
  type SummaryClaim,
  type SummaryName,
  type SummaryPart,
  sentencesIn,
  shareOf,
  stem,
  tokensOf,
  toPhrase,
} from "./text.ts"

const QUOTED = /"([^"\n]+)"|“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|「([^「」\n]+)」|『([^『』\n]+)』/gu
const NAMES_USER =
  /\b(?:user|customer|human|nutzer(?:in)?|benutzer(?:in)?|utilisateur|usuario|utente)(?:'s|s)?\b|用户|ユーザー|사용자|пользовател/iu
const USER_STATES =
  /\b(?:user|they|human|nutzer(?:in)?|benutzer(?:in)?)\s*(?:'s|explicitly|also|then|now|just|has|had|hat)?\s*(?:said|says|wrote|writes|asked|asks|requested|stated|instructed|insisted|replied|answered|told|demanded|ordered|typed|sagte|schrieb|fragte|bat)\b|用户(?:说|要求|表示|写道)/iu
const OMISSION = /\[[^\]]*\]|\.{3,}|…/
const FEWEST_TOKENS = 3 // shorter ones are quoted names
const NEAR_SHARE = 0.9 // of a quote's words, in this order: a corrected typo is no invention

/** Finds quotes line by line, because a quote may contain several sentences. */
export function quoteClaims(parts: readonly SummaryPart[], source: AuditSource): readonly SummaryClaim[] {
  const lines = parts.filter((part, at) => !part.isCode && part.line !== parts[at - 1]?.line)
  const onLine = Map.groupBy(parts, (part) => part.line)
  const turns = source.turns.map(({ text }) => ({ tokens: tokensOf(text), isNegated: isNegated(text) }))
  return lines.flatMap(({ line, isUsersList }) => {
    const statedAt = endOfMatch(USER_STATES, line.text)
    const named = endOfMatch(NAMES_USER, line.text)
    const own = onLine.get(line)!
    let nth = 0 // sentences and quotes come in the same order
    return [...line.text.matchAll(QUOTED)].flatMap(({ 0: marked, index }): SummaryClaim[] => {
      const quote = marked.slice(1, -1)
      if (tokensOf(quote).length < FEWEST_TOKENS) return []
      const isDirect = isUsersList || statedAt <= index
      if (!isDirect && named > index) return []
      const isSupported =
        isStatedByUser(quote, source, turns) ||
        (!isDirect && piecesOf(quote).every((tokens) => source.index.has(tokens)))
      const at = line.at + index
      while (nth + 1 < own.length && own[nth]!.at + own[nth]!.text.length <= at) nth++
      const isInside = own[nth]!.at <= at && at + marked.length <= own[nth]!.at + own[nth]!.text.length
      return [{ class: "quotes", text: marked, at, isSupported, sentence: isInside ? own[nth]! : line }]
    })
  })
}

/** Index after the first match; infinity without a match. */
function endOfMatch(pattern: RegExp, text: string): number {
  const found = pattern.exec(text)
  return found ? found.index + found[0].length : Number.POSITIVE_INFINITY
}

interface TurnTokens {
  readonly tokens: readonly string[]
  readonly isNegated: boolean
}

const piecesOf = (quote: string) =>
  quote
    .split(OMISSION)
    .map(tokensOf)
    .filter((tokens) => tokens.length > 0)

function isStatedByUser(quote: string, source: AuditSource, turns: readonly TurnTokens[]): boolean {
  const segments = piecesOf(quote)
  if (segments.every((tokens) => source.userText.includes(joinTokens(tokens)))) return true
  return turns.some((turn) => segments.every((tokens) => isNearQuote(tokens, turn)))
}

/** Whether nearly all words occur in the same order, and no missing word reverses the meaning. */
function isNearQuote(tokens: readonly string[], { tokens: stated, isNegated: isTurnNegated }: TurnTokens): boolean {
  const mostMissing = tokens.length * (1 - NEAR_SHARE)
  let at = 0
  const missing: string[] = []
  for (const token of tokens) {
    const position = stated.indexOf(token, at)
    if (position >= 0) at = position + 1
    else if (missing.push(token) > mostMissing) return false
  }
  return !missing.some((token) => /\d/.test(token)) && isNegated(tokens.join(" ")) === isTurnNegated
}

const USER_NOUNS =
  "user|human|customer|owner|client|person|nutzer(?:in)?|benutzer(?:in)?|utilisateur|usuario|utente|gebruiker"
const APPROVAL_VERBS =
  "approv(?:ed|es|al)|agreed|agrees|confirmed|confirms|accepted|accepts|authori[sz]ed|authori[sz]es|authori[sz]ation|consent(?:ed|s)?|signed off|sign-off|green-?li(?:t|ghted)|okayed|ok'?d|permitted|permits|permission|allowed|allows|granted|go-?ahead|said yes|blessed|endorsed|waived|(?:is|was) (?:fine|ok|okay|happy|comfortable) with|gave (?:the |an? |their |explicit |full )*(?:ok|okay|nod|green light|blessing|clearance)|clear(?:ed|s) (?:us|me|the assistant) to|genehmigt|zugestimmt|zustimmung|bestätigt|erlaubt|erlaubnis|freigegeben|freigabe|einverstanden|approuvé|accepté|autorisé|aprobó|aprobado|autorizó|autorizado|aceptó|approvato|autorizzato|goedgekeurd"
const CLAIMED = new RegExp(
  `(?<![\\p{L}])(?:${USER_NOUNS})(?:'s|s)?(?![\\p{L}]).{0,60}?(?<![\\p{L}])(?:${APPROVAL_VERBS})(?![\\p{L}])|(?<![\\p{L}])(?:${APPROVAL_VERBS})(?![\\p{L}]).{0,25}?\\b(?:by|from|of|von|vom|par|por|da)\\s+(?:the\\s+|dem\\s+|der\\s+|l'|el\\s+)?(?:${USER_NOUNS})(?![\\p{L}])|用户.{0,12}(?:同意|批准|确认|許可|许可|允许|授权|认可)|(?:经|得到)用户.{0,6}(?:同意|批准|确认|许可|授权)|ユーザー.{0,12}(?:承認|同意|許可)|사용자.{0,12}(?:승인|동의|허락|허가)|пользовател\\p{L}*.{0,30}(?:одобрил|согласил|подтвердил|разрешил)`,
  "iu",
)
/** An approval that is requested, pending or refused does not count. */
const OPEN =
  /\b(?:if|whether|unless|until|once|when|before|after|without|await\w*|wait\w*|pending|need\w*|require\w*|request\w*|ask(?:ed|s|ing)?(?: \w+){0,3} (?:to|for|if|whether)|seek\w*|should|must|may|would|could|can|let|to be|has to|not|never|n't|no|denied|declined|rejected|refused|withheld|falls?|ob|bevor|nachdem|sobald|wartet|braucht|muss|soll|nicht|kein\w*|ohne)\b|如果|是否|等待|未|没|不|需要/iu
const AFFIRMS =
  /(?<![\p{L}])(?:y|ye[sp]|yeah|yup|ok|okay|k|sure|fine|agreed|agree|approved?|confirm(?:ed)?|correct|right|exactly|perfect|great|good|nice|cool|lgtm|proceed|continue|accept(?:ed)?|do (?:it|that|so|this|both|all)|go (?:ahead|for it|on)|let'?s|please do|sounds (?:good|great|fine)|looks (?:good|great|fine)|works for me|make it so|ship it|merge it|ja|jo|klar|gerne|passt|genau|mach|einverstanden|weiter|oui|d'accord|sí|si|vale|claro|sim|va bene|certo|да|хорошо|давай|да)(?![\p{L}])|[好行对是嗯]|可以|同意|确认|はい|お願い|いいです|네|예|좋아|그래/iu
const OWN_SHARE = 0.6 // of what was approved must be in what the user wrote
const ANSWERED_SHARE = 0.5 // or in what the user answered with yes
const MAX_YES = 400 // characters: a longer message is a request of its own
const MAX_WORDS = 12 // of a claim: what follows them is detail

/**
 * Approvals that a summary claims. The user must have asked for the action, or have agreed when it was proposed. A proposal without an
 * answer and a rule against the action approve nothing.
 */
export function approvalClaims(parts: readonly SummaryPart[], source: AuditSource): readonly SummaryClaim[] {
  return parts.flatMap((part): SummaryClaim[] => {
    if (part.isCode) return []
    const found = CLAIMED.exec(part.text)
    if (!found || OPEN.test(clauseAround(part.text, found))) return []
    const isSupported = isApproved(withoutVerb(part.text), source)
    return [{ class: "approvals", text: part.text, at: part.at, isSupported, sentence: part }]
  })
}

/** The words that claim the approval and those before them. Later words describe what was approved. */
function clauseAround(text: string, { index, 0: found }: RegExpExecArray): string {
  return text.slice(Math.max(0, index - 30), index + found.length)
}

const VERBS = new RegExp(`(?<![\\p{L}])(?:${APPROVAL_VERBS}|${USER_NOUNS})(?:'s|s)?(?![\\p{L}])`, "giu")
const CJK_VERBS = /用户|ユーザー|사용자|同意|批准|确认|許可|许可|允许|授权|认可|承認|승인|동의|허락|허가/gu

const withoutVerb = (text: string): ReadonlySet<string> =>
  new Set([...contentWords(text.replace(VERBS, " ").replace(CJK_VERBS, " "))].slice(0, MAX_WORDS))

function isApproved(matter: ReadonlySet<string>, { turns, userText }: AuditSource): boolean {
  if (turns.some((turn) => approves(turn, matter))) return true
  // an earlier summary or record may say so
  return matter.size > 0 && userText.includes(toPhrase([...matter].join(" ")))
}

function approves({ text, before }: UserTurn, matter: ReadonlySet<string>): boolean {
  const sentences = sentencesIn(text).map((sentence) => sentence.text)
  if (matter.size > 0 && sentences.some((sentence) => !isNegated(sentence) && isAbout(sentence, matter, OWN_SHARE)))
    return true
  const start = text.trim().slice(0, MAX_YES)
  const first = sentencesIn(start)[0]?.text ?? start
  if (!AFFIRMS.test(first) || isNegated(first)) return false
  return matter.size === 0 || sentencesIn(before).some((sentence) => isAbout(sentence.text, matter, ANSWERED_SHARE))
}

/** Compares sentence by sentence: in a long text the words of nearly any claim occur somewhere. */
const isAbout = (sentence: string, matter: ReadonlySet<string>, share: number): boolean =>
  shareOf(matter, contentWords(sentence)) >= share

// Step 4, check. Finds two names that were swapped in a sentence of the model's own words, by comparing the words next to each name with
// those next to it in the conversation. A sentence counts as altered only if the conversation clearly supports the other order.

/** Chosen on 611 pairs of names in 24 recorded summaries: 4 of them reach the required votes, and 348 do after swapping. */
const VOTES = { call: 3, near: 1, adjacent: 2, order: 2, needed: 3 } as const
const MAX_PLACES = 300 // of one name
const MAX_PAIRS = 8 // of one sentence
const NEAR = 4 // words to each side of a name, in the conversation
const CONTEXT = 3 // words to each side of a name, in the summary
const MAX_BETWEEN = 40 // words
const MORE_BETWEEN = 3 // words that the conversation may have between two names beyond those of the summary
const MAX_TEXT = 400 // characters to each side that are read
/** Words and punctuation that make a list of two names. A list has no order. */
const LISTED = /^[\s`*"'(),;/|+&]*(?:and|or|und|oder|et|y)?[\s`*"'(),;/|+&]*$/i
const OTHER_SENTENCE = /[.!?;]\s/

export interface SwappedNames {
  /** The sentence with two names swapped back; `undefined` if none were swapped. */
  original(part: SummaryPart): string | undefined
}

export function swappedNamesIn({ index, raw }: AuditSource): SwappedNames {
  const known = new Map<string, NameSurroundings>()

  function surroundings(name: string): NameSurroundings {
    const found = known.get(name)
    if (found) return found
    const tokens = tokensOf(name)
    const positions = index.positionsOf(tokens, MAX_PLACES)
    const [near, before, after] = [new Set<string>(), new Set<string>(), new Set<string>()]
    for (const position of positions) {
      const end = position + tokens.length
      for (let step = 1; step <= NEAR; step++)
        for (const token of [index.tokens[position - step], index.tokens[end - 1 + step]])
          if (token !== undefined) near.add(stem(token))
      if (position > 0) before.add(index.tokens[position - 1]!)
      if (end < index.tokens.length) after.add(index.tokens[end]!)
    }
    const isCalled = raw.includes(`${name.toLowerCase()}(`)
    const facts = { positions, length: tokens.length, near, before, after, isCalled }
    known.set(name, facts)
    return facts
  }

  /** Whether the first name occurs before the second with one of these words between them. */
  function isOrdered(first: NameSurroundings, second: NameSurroundings, between: readonly string[]): boolean {
    const terms = new Set(between.filter(isContent).map(stem))
    if (terms.size === 0) return false
    let from = 0
    for (const position of first.positions) {
      const start = position + first.length
      while (from < second.positions.length && second.positions[from]! < start) from++
      for (let at = from; at < second.positions.length; at++) {
        const end = second.positions[at]!
        if (end > start + between.length + MORE_BETWEEN) break
        for (let step = start; step < end; step++) if (terms.has(stem(index.tokens[step]!))) return true
      }
    }
    return false
  }

  function isExchanged(text: string, one: SummaryName, other: SummaryName): boolean {
    const [first, second] = [surroundings(one.text), surroundings(other.text)]
    if (first.positions.length === 0 || second.positions.length === 0) return false
    const before = text.slice(Math.max(0, one.at - MAX_TEXT), one.at)
    const between = text.slice(one.at + one.text.length, other.at)
    const after = text.slice(other.at + other.text.length).slice(0, MAX_TEXT)
    const middle = tokensOf(between)
    if (middle.length > MAX_BETWEEN) return false
    const here = slotOf(tokensOf(before), middle, CALL.test(between))
    const there = slotOf(middle, tokensOf(after), CALL.test(after))
    const [own, others] = [without(here, there), without(there, here)]
    const asWritten = votes(first, own) + votes(second, others)
    const otherwise = votes(second, own) + votes(first, others)
    const order = Number(isOrdered(second, first, middle)) - Number(isOrdered(first, second, middle))
    return otherwise - asWritten + VOTES.order * order >= VOTES.needed
  }

  return {
    original({ text, names }) {
      // a file name before "()" is no name of its own, but two names that changed places make one
      const all = text.includes("()") ? namesIn(text.replaceAll("()", "  ")) : names
      const exact = all.filter((name) => KINDS.has(name.class) && /^[\p{L}_.~/\\]/u.test(name.text))
      for (const [at, one] of exact.slice(0, MAX_PAIRS).entries()) {
        const other = exact[at + 1]
        if (!other || one.text.endsWith(other.text) || other.text.endsWith(one.text)) continue // one file, in two ways
        const between = text.slice(one.at + one.text.length, other.at)
        if (LISTED.test(between) || OTHER_SENTENCE.test(between) || !isExchanged(text, one, other)) continue
        return text.slice(0, one.at) + other.text + between + one.text + text.slice(other.at + other.text.length)
      }
      return undefined
    },
  }
}

const KINDS: ReadonlySet<NameClass> = new Set(["identifiers", "paths"])

/** Words around a name in the conversation. */
interface NameSurroundings {
  readonly positions: readonly number[]
  readonly length: number
  readonly near: ReadonlySet<string>
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
  readonly isCalled: boolean
}

/** Words around one occurrence of a name in a sentence. */
interface NameSlot {
  readonly words: readonly string[]
  readonly before: string | undefined
  readonly after: string | undefined
  readonly isCall: boolean
}

const CALL = /^`?\(\)/
const isContent = (token: string) => !isStopWord(token)

function slotOf(before: readonly string[], after: readonly string[], isCall: boolean): NameSlot {
  const around = [...before.slice(-CONTEXT), ...after.slice(0, CONTEXT)]
  const words = new Set(around.filter((token) => isContent(token) && !/^\d+$/.test(token)).map(stem))
  const [last, next] = [before.at(-1), after[0]]
  return {
    words: [...words],
    before: last !== undefined && isContent(last) ? last : undefined,
    after: next !== undefined && isContent(next) ? next : undefined,
    isCall,
  }
}

/** Drops the words that both slots share, because they do not distinguish them. */
const without = (slot: NameSlot, other: NameSlot): NameSlot => ({
  ...slot,
  words: slot.words.filter((word) => !other.words.includes(word)),
})

function votes({ near, before, after, isCalled }: NameSurroundings, slot: NameSlot): number {
  const adjacent = Number(slot.before !== undefined && before.has(slot.before)) + Number(after.has(slot.after ?? ""))
  const uncalled = slot.isCall && !isCalled ? VOTES.call : 0
  return VOTES.near * slot.words.filter((word) => near.has(word)).length + VOTES.adjacent * adjacent - uncalled
}
