/** Whether a sentence is about what a newer one names as over: "we switched from Jest to Vitest". */
import { type Fact, type FactWord, wordsOf } from "./fact.ts"
import { DUTIES, ROLES } from "./fact-words.ts"
import { isLight } from "./reworded-facts.ts"

/** "We switched from Jest to Vitest": what says that something is Jest is over. */
export function comparedWithNamed(older: Fact, { over }: Fact): "contradicts" | "named over" | "doubtful" | undefined {
  if (!over || older.isNegative || older.isPast || !isStateWith(older, over.was)) return undefined
  const said = new Set([...over.was, ...over.about])
  const words = wordsOf(older)
  const isAbout = over.about.every((stem) => words.some((word) => word.stem === stem) || isSpeaker(stem))
  const rest = words.filter((word) => !said.has(word.stem) && !isLight(word) && !isSpeaker(word.stem))
  if (over.about.length > 0) return isAbout && rest.every(isOfRole) ? "contradicts" : undefined
  return rest.some(({ kind, preposition }) => kind === "name" && preposition !== undefined) ? "doubtful" : "named over"
}

const isSpeaker = (stem: string): boolean => stem === "we" || stem === "i"
const isOfRole = ({ stem, preposition }: FactWord): boolean =>
  ROLES.has(stem) || DUTIES.has(stem) || preposition === undefined

/** The value is at one end of it, as in "we use Jest", "the runner is Jest", "Bo leads billing". What someone likes is no such state. */
function isStateWith({ subject, predicate, verb, shape, isAboutOnePerson, placeVerb }: Fact, was: readonly string[]) {
  if (was.length === 0 || shape === "order" || (verb !== undefined && ATTITUDES.has(verb))) return false
  const isAll = (words: readonly FactWord[]) =>
    words.length === was.length && words.every(({ stem }, at) => stem === was[at])
  if (isAll(subject)) {
    const isHome = isAboutOnePerson && placeVerb !== undefined
    return verb === undefined ? !isHome && predicate.some(isPostOrOnCall) : ROLES.has(verb) || DUTIES.has(verb)
  }
  const start = predicate.findIndex(({ stem }) => stem === was[0])
  return start >= 0 && isAll(predicate.slice(start, start + was.length))
}

const ATTITUDES = new Set("like love hate enjoy know speak want learn teach mention meet visit eat drink".split(" "))
/** "the owner", "on call". */
const isPostOrOnCall = ({ stem, text, preposition }: FactWord): boolean =>
  ROLES.has(stem) || /(?:er|or|ist|lead|head|chief)$/.test(text) || (preposition === "on" && stem === "call")
