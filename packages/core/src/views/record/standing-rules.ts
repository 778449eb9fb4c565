/**
 * Finds standing rules in what a person wrote: sentences that ask for something always, never or from now on. It looks for marker words
 * in several languages. What a person types can be a rule; sentences of pasted text are only counted.
 */
import { typedPieces } from "./typed-text.ts"

/** Words that make a sentence a rule. In Latin script they must be whole words; in other scripts they may be anywhere. */
const MARKERS_LATIN = [
  ...[
    "always",
    "never",
    "from now on",
    "don't",
    "do not",
    "must",
    "must not",
    "make sure",
    "only use",
    "prefer",
    "avoid",
    "remember",
  ],
  ...[
    "every time",
    "whenever",
    "under no circumstances",
    "no matter what",
    "going forward",
    "in future",
    "in the future",
    "please use",
  ],
  ...[
    "immer",
    "nie",
    "niemals",
    "ab jetzt",
    "ab sofort",
    "nicht mehr",
    "auf keinen fall",
    "stets",
    "bitte verwende",
    "achte darauf",
  ],
  ...["toujours", "jamais", "désormais", "à partir de maintenant", "n'utilise pas", "ne pas", "il faut"],
  ...["siempre", "nunca", "jamás", "a partir de ahora", "de ahora en adelante", "no uses", "debes"],
  ...["sempre", "nunca", "jamais", "de agora em diante", "não use", "d'ora in poi", "mai"],
  ...["altijd", "nooit", "vanaf nu"],
]
const MARKERS_OTHER = [
  ...["всегда", "никогда", "отныне", "с этого момента", "нельзя", "обязательно"],
  ...["总是", "始终", "永远", "绝不", "从不", "不要", "必须", "务必", "以后", "从现在起", "禁止"],
  ...["總是", "始終", "永遠", "絕不", "從現在起", "必須", "務必"],
  ...["常に", "必ず", "いつも", "決して", "しないで", "今後", "禁止"],
  ...["항상", "절대", "반드시", "앞으로", "하지 마"],
  ...["دائما", "دائمًا", "أبدا", "أبدًا", "لا تستخدم", "من الآن"],
  ...["हमेशा", "कभी नहीं", "अब से"],
]

const LONGEST_RULE = 600 // characters; longer "sentences" are pasted text

const latin = new RegExp(`(?<![\\p{L}\\p{N}])(?:${MARKERS_LATIN.join("|")})(?![\\p{L}\\p{N}])`, "iu")
const other = new RegExp(MARKERS_OTHER.join("|"), "iu")

export function standingRules(text: string): readonly string[] {
  return typedPieces(text).flatMap(rulesOf)
}

/** How many sentences of pasted text read like rules and are not among `standingRules`. */
export function otherRules(text: string): number {
  return Math.max(0, rulesOf(text).length - standingRules(text).length)
}

const rulesOf = (text: string): readonly string[] =>
  sentences(text).filter((sentence) => sentence.length <= LONGEST_RULE && isRule(sentence))

/** A question asks; it does not say how things are to be done. */
const QUESTION = /[?？؟][\s"'”’)\]*]*$/

function isRule(sentence: string): boolean {
  if (QUESTION.test(sentence)) return false
  const typed = sentence.replaceAll("’", "'") // phones and word processors write don’t
  return latin.test(typed) || other.test(typed)
}

/**
 * The sentences of a text, verbatim, with white space trimmed at the ends. A full stop inside `v1.2` does not end a sentence; those of
 * Chinese, Japanese, Hindi, Arabic and Urdu always do.
 */
function sentences(text: string): string[] {
  return (text.match(/[^\n.!?。！？।؟۔]+(?:[.!?]+(?!\s|$)[^\n.!?。！？।؟۔]+)*[.!?。！？।؟۔]*/gu) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")
}
