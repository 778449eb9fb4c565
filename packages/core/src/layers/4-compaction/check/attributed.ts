/**
 * Step 4, check. What a summary says the user said. A quote must be something the user said: omissions are allowed, other words are not. An
 * approval must be one that the user gave.
 */
import type { Claim, Part } from "./claim.ts"
import type { Source, Turn } from "./source.ts"
import { contentWords, isNegated, phrase, phraseOf, sentencesIn, shareIn, tokensOf } from "./text.ts"

const IN_MARKS = /"([^"\n]+)"|“([^“”\n]+)”|„([^„“”\n]+)[“”]|«([^«»\n]+)»|「([^「」\n]+)」|『([^『』\n]+)』/gu
const NAMES_USER =
  /\b(?:user|customer|human|nutzer(?:in)?|benutzer(?:in)?|utilisateur|usuario|utente)(?:'s|s)?\b|用户|ユーザー|사용자|пользовател/iu
const SAID =
  /\b(?:user|they|human|nutzer(?:in)?|benutzer(?:in)?)\s*(?:'s|explicitly|also|then|now|just|has|had|hat)?\s*(?:said|says|wrote|writes|asked|asks|requested|stated|instructed|insisted|replied|answered|told|demanded|ordered|typed|sagte|schrieb|fragte|bat)\b|用户(?:说|要求|表示|写道)/iu
const LEFT_OUT = /\[[^\]]*\]|\.{3,}|…/
const FEWEST_TOKENS = 3 // shorter ones are names in quotation marks
const NEAR_SHARE = 0.9 // of a quote's words, in this order: a corrected typo is no invention

/** Looked for line by line: a quote may have several sentences. */
export function quoteClaims(parts: readonly Part[], source: Source): readonly Claim[] {
  const lines = parts.filter((part, at) => !part.isCode && part.line !== parts[at - 1]?.line)
  const onLine = Map.groupBy(parts, (part) => part.line)
  const turns = source.turns.map(({ text }) => ({ tokens: tokensOf(text), isNegated: isNegated(text) }))
  return lines.flatMap(({ line, isUsersList }) => {
    const said = endOf(SAID, line.text)
    const named = endOf(NAMES_USER, line.text)
    const own = onLine.get(line)!
    let nth = 0 // sentences and quotes come in the same order
    return [...line.text.matchAll(IN_MARKS)].flatMap(({ 0: marked, index }): Claim[] => {
      const quote = marked.slice(1, -1)
      if (tokensOf(quote).length < FEWEST_TOKENS) return []
      const isDirect = isUsersList || said <= index
      if (!isDirect && named > index) return []
      const isSupported =
        wasSaid(quote, source, turns) || (!isDirect && piecesOf(quote).every((tokens) => source.index.has(tokens)))
      const at = line.at + index
      while (nth + 1 < own.length && own[nth]!.at + own[nth]!.text.length <= at) nth++
      const isInside = own[nth]!.at <= at && at + marked.length <= own[nth]!.at + own[nth]!.text.length
      return [{ class: "quotes", text: marked, at, isSupported, sentence: isInside ? own[nth]! : line }]
    })
  })
}

/** Where the first match ends. */
function endOf(pattern: RegExp, text: string): number {
  const found = pattern.exec(text)
  return found ? found.index + found[0].length : Number.POSITIVE_INFINITY
}

interface SaidTurn {
  readonly tokens: readonly string[]
  readonly isNegated: boolean
}

const piecesOf = (quote: string) =>
  quote
    .split(LEFT_OUT)
    .map(tokensOf)
    .filter((tokens) => tokens.length > 0)

function wasSaid(quote: string, source: Source, turns: readonly SaidTurn[]): boolean {
  const pieces = piecesOf(quote)
  if (pieces.every((tokens) => source.said.includes(phrase(tokens)))) return true
  return turns.some((turn) => pieces.every((tokens) => isNearly(tokens, turn)))
}

/** Nearly all words in the same order, and none that turns the meaning round. */
function isNearly(tokens: readonly string[], { tokens: said, isNegated: isTurnNegated }: SaidTurn): boolean {
  const mostMissing = tokens.length * (1 - NEAR_SHARE)
  let at = 0
  const missing: string[] = []
  for (const token of tokens) {
    const place = said.indexOf(token, at)
    if (place >= 0) at = place + 1
    else if (missing.push(token) > mostMissing) return false
  }
  return !missing.some((token) => /\d/.test(token)) && isNegated(tokens.join(" ")) === isTurnNegated
}

const WHO = "user|human|customer|owner|client|person|nutzer(?:in)?|benutzer(?:in)?|utilisateur|usuario|utente|gebruiker"
const VERB =
  "approv(?:ed|es|al)|agreed|agrees|confirmed|confirms|accepted|accepts|authori[sz]ed|authori[sz]es|authori[sz]ation|consent(?:ed|s)?|signed off|sign-off|green-?li(?:t|ghted)|okayed|ok'?d|permitted|permits|permission|allowed|allows|granted|go-?ahead|said yes|blessed|endorsed|waived|(?:is|was) (?:fine|ok|okay|happy|comfortable) with|gave (?:the |an? |their |explicit |full )*(?:ok|okay|nod|green light|blessing|clearance)|clear(?:ed|s) (?:us|me|the assistant) to|genehmigt|zugestimmt|zustimmung|bestätigt|erlaubt|erlaubnis|freigegeben|freigabe|einverstanden|approuvé|accepté|autorisé|aprobó|aprobado|autorizó|autorizado|aceptó|approvato|autorizzato|goedgekeurd"
const CLAIMED = new RegExp(
  `(?<![\\p{L}])(?:${WHO})(?:'s|s)?(?![\\p{L}]).{0,60}?(?<![\\p{L}])(?:${VERB})(?![\\p{L}])|(?<![\\p{L}])(?:${VERB})(?![\\p{L}]).{0,25}?\\b(?:by|from|of|von|vom|par|por|da)\\s+(?:the\\s+|dem\\s+|der\\s+|l'|el\\s+)?(?:${WHO})(?![\\p{L}])|用户.{0,12}(?:同意|批准|确认|許可|许可|允许|授权|认可)|(?:经|得到)用户.{0,6}(?:同意|批准|确认|许可|授权)|ユーザー.{0,12}(?:承認|同意|許可)|사용자.{0,12}(?:승인|동의|허락|허가)|пользовател\\p{L}*.{0,30}(?:одобрил|согласил|подтвердил|разрешил)`,
  "iu",
)
/** An approval that is asked for, awaited or refused is no approval. */
const OPEN =
  /\b(?:if|whether|unless|until|once|when|before|after|without|await\w*|wait\w*|pending|need\w*|require\w*|request\w*|ask(?:ed|s|ing)?(?: \w+){0,3} (?:to|for|if|whether)|seek\w*|should|must|may|would|could|can|let|to be|has to|not|never|n't|no|denied|declined|rejected|refused|withheld|falls?|ob|bevor|nachdem|sobald|wartet|braucht|muss|soll|nicht|kein\w*|ohne)\b|如果|是否|等待|未|没|不|需要/iu
const AFFIRMS =
  /(?<![\p{L}])(?:y|ye[sp]|yeah|yup|ok|okay|k|sure|fine|agreed|agree|approved?|confirm(?:ed)?|correct|right|exactly|perfect|great|good|nice|cool|lgtm|proceed|continue|accept(?:ed)?|do (?:it|that|so|this|both|all)|go (?:ahead|for it|on)|let'?s|please do|sounds (?:good|great|fine)|looks (?:good|great|fine)|works for me|make it so|ship it|merge it|ja|jo|klar|gerne|passt|genau|mach|einverstanden|weiter|oui|d'accord|sí|si|vale|claro|sim|va bene|certo|да|хорошо|давай|да)(?![\p{L}])|[好行对是嗯]|可以|同意|确认|はい|お願い|いいです|네|예|좋아|그래/iu
const OWN_SHARE = 0.6 // of what was approved must be in what the user wrote
const ANSWERED_SHARE = 0.5 // or in what the user answered with yes
const LONGEST_YES = 400 // characters: a longer message is a request of its own
const MOST_WORDS = 12 // of a claim: what follows them is detail

/**
 * Approvals that a summary claims. The user must have asked for it, or have said yes where it was proposed. A proposal without an answer,
 * and a rule against it, approve nothing.
 */
export function approvalClaims(parts: readonly Part[], source: Source): readonly Claim[] {
  return parts.flatMap((part): Claim[] => {
    if (part.isCode) return []
    const found = CLAIMED.exec(part.text)
    if (!found || OPEN.test(clauseAround(part.text, found))) return []
    const isSupported = wasApproved(withoutVerb(part.text), source)
    return [{ class: "approvals", text: part.text, at: part.at, isSupported, sentence: part }]
  })
}

/** Up to the words that claim it, and those words: what comes later is the matter itself. */
function clauseAround(text: string, { index, 0: found }: RegExpExecArray): string {
  return text.slice(Math.max(0, index - 30), index + found.length)
}

const VERBS = new RegExp(`(?<![\\p{L}])(?:${VERB}|${WHO})(?:'s|s)?(?![\\p{L}])`, "giu")
const CJK_VERBS = /用户|ユーザー|사용자|同意|批准|确认|許可|许可|允许|授权|认可|承認|승인|동의|허락|허가/gu

const withoutVerb = (text: string): ReadonlySet<string> =>
  new Set([...contentWords(text.replace(VERBS, " ").replace(CJK_VERBS, " "))].slice(0, MOST_WORDS))

function wasApproved(matter: ReadonlySet<string>, { turns, said }: Source): boolean {
  if (turns.some((turn) => approves(turn, matter))) return true
  // an earlier summary or record may say so
  return matter.size > 0 && said.includes(phraseOf([...matter].join(" ")))
}

function approves({ text, before }: Turn, matter: ReadonlySet<string>): boolean {
  const sentences = sentencesIn(text).map((sentence) => sentence.text)
  if (matter.size > 0 && sentences.some((sentence) => !isNegated(sentence) && isAbout(sentence, matter, OWN_SHARE)))
    return true
  const start = text.trim().slice(0, LONGEST_YES)
  const first = sentencesIn(start)[0]?.text ?? start
  if (!AFFIRMS.test(first) || isNegated(first)) return false
  return matter.size === 0 || sentencesIn(before).some((sentence) => isAbout(sentence.text, matter, ANSWERED_SHARE))
}

/** Sentence by sentence: in a long text the words of nearly any claim occur somewhere. */
const isAbout = (sentence: string, matter: ReadonlySet<string>, share: number): boolean =>
  shareIn(matter, contentWords(sentence)) >= share
