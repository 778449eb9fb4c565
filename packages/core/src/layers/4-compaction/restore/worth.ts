/** Step 5, restore. How much a sentence of the user is worth where not all of them fit: what is exact, wanted or forbidden says more than talk. */
import { remembering } from "../../../base/remembering.ts"
import { exactNamesIn } from "../../../messages/exact-names.ts"
import { standingRules } from "../../../views/record/standing-rules.ts"

const LABEL = /^(?:[A-Z][A-Z ]{2,30}|(?:rule|note|fact|goal|task|decision|constraint|preference|important|remember)):/i
/** What someone wants, allows or forbids, and what comes next. */
const WANTS =
  /\b(?:(?:I|we) (?:want|need|like|prefer|expect|would|decided|chose)|please|only|must|should|may|not|no|never|without|unless|next|ask|stop|task|goal|deadline|instead)\b|\b(?:bitte|nur|nicht|kein\w*)\b/i
const NAMED = /(?<=[\p{Ll},;] )\p{Lu}\p{Ll}+/u // a name amid a sentence

interface Worth {
  readonly value: number
}

/** 0 for talk, up to about 8. */
export const worthOf = (text: string): number => worth(text).value

const worth = remembering(
  (text): Worth => ({
    value:
      (standingRules(text).length > 0 ? 3 : 0) +
      Math.min(3, exactNamesIn(text).filter(({ name, kind }) => kind !== "quoted" && /[\d/]/.test(name)).length * 2) +
      (LABEL.test(text) ? 2 : 0) +
      (WANTS.test(text) ? 1 : 0) +
      (NAMED.test(text) ? 1 : 0),
  }),
)
