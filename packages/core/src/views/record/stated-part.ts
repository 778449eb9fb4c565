/**
 * What a sentence states, where it goes on to ask or to tell of the task: "I prefer tea, so can you name a shop?". It is part of the
 * sentence, word for word. A doubt stays: "I prefer tea, but I'm not sure".
 */
import { madeOnce } from "../../base/made-once.ts"

const START = "(?:[,;]|\\s[–—-]|(?=\\s(?:so|and|but)\\s))\\s*(?:(?:so|and|but|then|also|hmm)[\\s,]+)*"

/** In English also without a question mark: many people leave it out. */
const ASKS = madeOnce(
  () =>
    new RegExp(
      `${START}(?:${[
        "(?:can|could|would|will|should|may|do|does|did|is|are|have|has) (?:you|i|we|it|there|that|this|the|they)\\b",
        "(?:how|what|which|why|where|who|when) (?:\\w+ ){0,3}?(?:can|could|do|does|did|should|would|will|is|are|might|has|have|am) (?:i|you|we|it|that|this|there|they|the|my)\\b",
        "(?:how|what)(?:'s| about| if)\\b",
        "(?:any|got any) (?:idea|tip|advice|suggestion)s?\\b",
        "please (?:help|show|give|tell|suggest|explain|write|make)\\b",
      ].join("|")}).*$`,
      "isu",
    ),
)
const ASKS_ANYWHERE = madeOnce(
  () =>
    new RegExp(
      `${START}(?:(?:how|what|which|why|where|who|any) .*[?]|(?:kannst|könntest|würdest|hast|was|wie|welche[rs]?|wo) .*[?]|(?:peux-tu|pourrais-tu|tu peux|pouvez-vous|pourriez-vous|est-ce que|as-tu|quel\\p{L}*|comment|que) .*[?]|¿.*[?]|(?:можешь|мог бы|не мог бы|подскажи\\p{L}*|как|какие|что) .*[?])\\W*$`,
      "isu",
    ),
)
/** What the person does about it now. */
const GOES_ON =
  /,\s+(?:(?:and|so|which is why)\s+)?(?:now\s+)?i(?:(?:'m| am| was) (?:\w+ )?\w+ing| want to| wanna| need (?:to|help)|'d like to| would like to| made sure| hope| wonder)\b.*$/isu
/** Why they come to say it. What holds under a condition does not begin like this. */
const LEADS =
  /^(?:(?:i|i'm|i've|we|we're|we've|my|it's|there's)\b.*?(?:(?:,|\s)\s*(?:so|and|but|since|because|given that|considering(?: that)?)\s+|,\s+)|(?:since|because|given that|considering(?: that)?)\s+)(?=i(?:'d|'m| am)? )/isu

/** Without what it asks for at the end. */
export function statedPart(sentence: string): string {
  const typed = sentence.replaceAll("’", "'")
  const end = Math.min(...[ASKS(), ASKS_ANYWHERE()].map((pattern) => pattern.exec(typed)?.index || typed.length))
  return sentence.slice(0, end).trimEnd()
}

/** The clause that a pattern finds, without what comes before and after it. Nothing where the pattern finds it nowhere. */
export function clauseWith(stated: string, isMeant: (clause: string) => boolean): string | undefined {
  const typed = stated.replaceAll("’", "'")
  const begins = [0]
  for (let lead = LEADS.exec(typed); lead; lead = LEADS.exec(typed.slice(begins.at(-1)!)))
    begins.push(begins.at(-1)! + lead[0].length)
  for (const begin of begins.reverse()) {
    const rest = typed.slice(begin)
    const end = begin + (GOES_ON.exec(rest)?.index || rest.length)
    if (isMeant(typed.slice(begin, end))) return stated.slice(begin, end).trimEnd()
  }
  return undefined
}
