/**
 * Lasting rules in English. A sentence is one if it is addressed to the agent (an imperative, "you should", "I want you to", a polite
 * question, a preference) and says that it holds in general: by an adverb, a condition such as "when I ask", or because it is about all
 * answers. What points at the task at hand does not.
 */
import * as said from "./lasting-rules-phrases.ts"
import { isFormPlease, isPreference, NONE_PLEASE } from "./preferences-english.ts"

/** `alone`: it is one if nothing else in the message asks for work, which it could be about. */
export type RuleLikeness = "rule" | "alone" | "none"

export function englishRule(given: string): RuleLikeness {
  const sentence = withoutFillers(given).replace(said.REASON, "")
  if (isOthersWord(sentence) || said.SUPPOSED.test(sentence)) return "none"
  const asked = said.ASKED_POLITELY.exec(sentence)?.[0]
  const stated = asked === undefined ? withoutQuestion(sentence) : sentence.slice(asked.length).replace(/[?]\W*$/, "")
  if (stated === undefined) return "none"
  const own = stated.replace(said.OTHERS_HABIT, "")
  if (said.AT_HAND.test(own) && !said.FROM_NOW.test(own)) return "none"
  if (asked !== undefined || isRule(own)) return "rule"
  return isForm(own) ? "alone" : "none"
}

/** Whether a sentence asks for work or for an answer. */
export function isEnglishRequest(given: string): boolean {
  const sentence = withoutFillers(given)
  return said.QUESTION.test(sentence) || said.WORK_FIRST.test(sentence.replace(said.POLITE, ""))
}

/** What begins with "always" is not what someone else said, even if it names them later. */
const isOthersWord = (sentence: string) =>
  said.REPORTED.test(sentence) && !said.ADVERB_FIRST.test(sentence.replace(said.POLITE, ""))

const withoutFillers = (sentence: string) => sentence.replace(said.FILLERS, "")

/** "I prefer short answers, so can you …?" states something before it asks. Nothing is left of what only asks. */
function withoutQuestion(sentence: string): string | undefined {
  const stated = sentence.replace(said.TAG, "").replace(said.ASKS_AT_THE_END, "")
  return said.QUESTION.test(stated) ? undefined : stated
}

function isRule(sentence: string): boolean {
  if (said.REMEMBER.test(sentence) || isPreference(sentence) || isFormPlease(sentence)) return true
  if (said.EVENT.test(sentence) && !said.FROM_NOW.test(sentence)) return false
  const isHabit = said.HABIT.test(sentence)
  const isGeneral = isHabit || said.GENERAL.test(sentence)
  if ((said.WISH.test(sentence) || said.TOLD.test(sentence)) && isGeneral && !isThisAnswer(sentence)) return true
  if (said.ABOUT_PRODUCTS.test(sentence)) return true
  if (isFromNow(sentence)) return true
  if (said.ONCE.test(sentence) && !said.FROM_NOW.test(sentence)) return false
  const [first, ...others] = clausesOf(sentence)
  if (isImperative(first!, isHabit || said.GENERAL.test(sentence.replace(said.THEN_I, "")))) return true
  return !said.OWN_PLAN.test(first!) && others.some((clause) => isImperative(clause, said.GENERAL.test(clause)))
}

/** "From now on English please": whatever follows is a rule, unless it says what will be. */
function isFromNow(sentence: string): boolean {
  const begun = said.BEGINS_NOW.exec(sentence)?.[0]
  if (begun === undefined) return false
  const rest = withoutFillers(sentence.slice(begun.length))
  return rest !== "" && !said.SOMEONE_ELSE.test(rest) && !said.STATE.test(rest)
}

/** "Your answer" is the next one. */
const isThisAnswer = (sentence: string) => said.THIS_ANSWER.test(sentence) && !said.HABIT.test(sentence)

function clausesOf(sentence: string): readonly string[] {
  const main = sentence.replace(said.LEAD, "")
  return [main, ...main.split(said.CLAUSE).slice(1)]
}

function isImperative(clause: string, isGeneral: boolean): boolean {
  const main = withoutFillers(clause).replace(said.POLITE, "").replace(said.BEGINS_FROM_NOW, "")
  if (said.NAMING.test(main) || said.LANGUAGE.test(main) || said.STOPPING.test(main)) return true
  if (said.FORBIDDING.test(main) && said.STYLE.test(main) && !isThisAnswer(main)) return true
  const adverb = said.ADVERB_FIRST.exec(main)?.[0]
  if (adverb !== undefined) return !said.NOT_BASE.test(main.slice(adverb.length))
  if (!isGeneral || said.SOMEONE_ELSE.test(main) || isThisAnswer(main)) return false
  return said.NO_MORE.test(main) || said.VERB_FIRST.test(main)
}

/** "Do not use tabs": in general, or in what was just asked for. */
function isForm(sentence: string): boolean {
  const main = sentence.replace(said.POLITE, "")
  if (said.POINTING.test(main) || isThisAnswer(main)) return false
  if (NONE_PLEASE.test(sentence)) return true
  return said.FORBIDDING.test(main) || said.CONTRASTING.test(main) || said.PLAIN_USE.test(main)
}
