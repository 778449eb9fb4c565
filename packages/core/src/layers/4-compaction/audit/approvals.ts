/**
 * Approvals that a summary claims. The user must have asked for it, or have said yes where it was proposed. A proposal without an answer,
 * and a rule against it, approve nothing.
 */
import type { Claim, Part } from "./claim.ts"
import type { Source, Turn } from "./source.ts"
import { contentWords, isNegated, phraseOf, sentencesIn, shareIn } from "./text.ts"

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
