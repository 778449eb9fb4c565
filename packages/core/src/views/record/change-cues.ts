/**
 * How a sentence says that something changed: words that say so, and forms that name what is over. One vocabulary for what a compaction
 * keeps and for memories: without one of these, only an attribute with one value at a time replaces anything.
 */

/** It says that something before it was wrong, or is no longer so. */
export const CORRECTION =
  /\b(?:actually|correction|corrected|in fact|i meant|i was wrong|scratch that|instead|no longer|not any ?more|any ?more|tatsächlich|korrektur|stattdessen|nicht mehr|en fait|en realidad|na verdade|in realtà|eigenlijk)\b|на самом деле|其实|實際上|実は|사실/iu
/** It has begun at some time. */
export const BEGINNING =
  /^update\b|\b(?:now|nowadays|from now on|these days|since|as of|starting|effective|going forward|by now|meanwhile|jetzt|inzwischen|seit|ab sofort|ab jetzt|künftig|désormais|maintenant|ahora|a partir de ahora|agora|ora|d'ora in poi|nu|vanaf nu)\b|теперь|отныне|现在|從現在起|从现在起|今後|이제|앞으로/iu
/** It is true besides what was said before. */
export const ADDITION =
  /\b(?:also|too|as well|additionally|another|besides|in addition|a (?:second|third)|both|either|sometimes|occasionally|auch|zusätzlich|außerdem|manchmal|aussi|parfois|también|a veces|também|às vezes|anche|a volte|ook|soms)\b|也|또한/iu

/** In the past. What was moved, raised or renamed has another value now. */
const CHANGED =
  "moved|changed|switched|migrated|relocated|transferred|rescheduled|postponed|delayed|renamed|raised|lowered|increased|decreased|reduced|cut|bumped|extended|shortened|pushed|brought|upgraded|downgraded|updated|set|reset|slipped|rose|fell|grew|dropped|went|gone|rotated|revised"
const WAY = "(?: (?:up|down|back|forward|over|out))?"
/** A phrase of a few words. */
const phrase = (name: string) => `(?<${name}>[^\\s,;:!?]+(?: [^\\s,;:!?]+){0,5}?)`
const LAST =
  "(?=[.!?]*$|[,;:] |\\. | (?:for|in|on|at|as|when|with|since|because|after|before|now|yesterday|today|last|this|next|and|so)\\b|\\s+[–—-] )"
const OVER =
  "(?:instead of|rather than|in place of|and not|(?:an)?statt|anstelle von|au lieu de|en lugar de|em vez de|invece di|in plaats van)"

/** Each names what is over. `is`: what took its place. `about`: of what, where the form says it. */
const NAMING_FORMS: readonly RegExp[] = [
  `\\b(?:switched|moved|migrated|changed|went|gone|converted)${WAY} from ${phrase("was")} to ${phrase("is")}${LAST}`,
  `\\b(?:replaced?|replacing|swapped?|exchanged?)${WAY} ${phrase("was")} (?:with|by|for) ${phrase("is")}${LAST}`,
  `^${phrase("was")} (?:is|was|were|are|has been|got|gets)(?: now)? replaced (?:with|by) ${phrase("is")}${LAST}`,
  `^${phrase("is")} (?:replaces|replaced|supersedes|superseded|succeeds|succeeded) ${phrase("was")}${LAST}`,
  `\\b(?:dropped|ditched|abandoned|left|quit|retired|gave up) ${phrase("was")} (?:for|in fav(?:ou)?r of) ${phrase("is")}${LAST}`,
  `^${phrase("is")} (?:takes|took|taken) over (?:(?!from )${phrase("about")} )?from ${phrase("was")}${LAST}`,
  `^${phrase("was")} (?:hands|handed|passes|passed|gives|gave)(?: over)? ${phrase("about")}(?: over| on)? to ${phrase("is")}${LAST}`,
  `\\b(?:left|quit|resigned from) (?<was>(?-i:\\p{Lu})\\S*(?: (?-i:\\p{Lu})\\S*){0,2}?)${LAST}`,
].map((form) => new RegExp(form, "iu"))

export interface NamedChange {
  readonly was: string
  readonly is?: string
  readonly about?: string
  /** The sentence without the form. */
  readonly rest: string
}

/** `undefined` where no form names what is over. */
export function namedChangeIn(sentence: string): NamedChange | undefined {
  for (const form of NAMING_FORMS) {
    const found = form.exec(sentence)
    if (!found) continue
    const { was, is, about } = found.groups as { was: string; is?: string; about?: string }
    return { was, ...(is ? { is } : {}), ...(about ? { about } : {}), rest: sentence.replace(found[0], " ").trim() }
  }
  return undefined
}

/** "Use spaces instead of tabs", "It is Leuven, not Ghent". */
export const REJECTED = new RegExp(
  `(?:,\\s*(?:and\\s+)?not|\\b${OVER})\\s+([^,.;]{1,60}?)(?=\\s+(?:for|in|on|at|as|when|with|für|in|bei|pour|para|per|voor)\\s|\\s*[,.;!]|\\s*$)`,
  "iu",
)

const MOVED = new RegExp(
  `^(?:(?:we|they|i|you|he|she|the \\S+|\\p{Lu}\\p{L}+) )?(?:had to )?(?:${CHANGED})${WAY} (?!from |to |in |at |by )${phrase("about")}${WAY}(?: from ${phrase("was")})? to (?<is>\\S.*)$`,
  "iu",
)

/** "We moved the deadline to May 3" as "the deadline = May 3". Others as they are. */
export function asState(sentence: string): { readonly said: string; readonly was?: string; readonly isMoved: boolean } {
  const moved = MOVED.exec(sentence)
  if (!moved) return { said: sentence, isMoved: false }
  const { about, was, is } = moved.groups as { about: string; was?: string; is: string }
  return { said: `${about} = ${is}`, ...(was ? { was } : {}), isMoved: true }
}

const PERFECT = new RegExp(
  `(?:\\b(?:has|have|had)|(?<=\\p{L})'(?:s|ve))(?: (?:just|now|recently|already))? (been )?(?=(?:${CHANGED}|replaced|taken|handed|left|quit|promoted|joined)\\b)`,
  "giu",
)

/** "It has moved", "it has been moved" as "it moved", "it was moved". */
export const withoutPerfect = (sentence: string): string =>
  sentence.replace(PERFECT, (_, been?: string) => (been ? " was " : " ")).replace(/ {2,}/g, " ")

const OF_THE_PERSON =
  /^(?:i(?:'ve| have)? (?:just |recently |now )*(?:moved|relocated) to |i (?:now|recently|just) (?:live|work|use|prefer|study|speak) |i(?:'ve| have)? (?:just |recently |now )*(?:joined|left|quit|changed my|got promoted|got married|started (?:at|as|working))\b|my new )/iu

/** "I moved to Berlin": something about the person has changed. */
export const isChangeOfThePerson = (sentence: string): boolean =>
  OF_THE_PERSON.test(sentence.replaceAll("’", "'").trim()) && !/[?？؟]\W*$/u.test(sentence)
