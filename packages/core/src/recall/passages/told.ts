/**
 * What a person tells in a message: sentences about themselves, and rules. "What car do I drive?" is answered there, and not where they
 * asked for something about cars.
 */
import { remembering } from "../../base/remembering.ts"
import { isEnglishRequest } from "../../views/record/lasting-rules-english.ts"
import { sentenceParts } from "../../views/record/sentences.ts"
import { standingRules } from "../../views/record/standing-rules.ts"
import type { Passage } from "./passage.ts"

/** In Latin and Cyrillic letters they are whole words. */
const SPEAKER_WORDS =
  /(?<![\p{L}\p{N}])(?:i|me|my|mine|myself|we|us|our|ours|ich|mich|mir|mein\p{L}{0,2}|wir|uns|unser\p{L}{0,2}|je|j'|moi|mon|ma|mes|nous|notre|nos|yo|mi|mis|mí|nosotros|nuestr[oa]s?|eu|meus?|minhas?|nós|noss[oa]s?|io|mio|mia|miei|mie|noi|nostr[oaie]|ik|mij|mijn|wij|ons|onze|я|меня|мне|мой|моя|моё|мои|мы|нас|наш\p{L}?)(?![\p{L}\p{N}])|[我咱俺]|私|僕|俺|(?<!\p{L})(?:나|내|저|제|우리)(?:는|의|가|를|도)?(?!\p{L})|(?<!\p{L})(?:أنا|لدي|عندي|نحن)(?!\p{L})|(?<![\p{L}\p{M}])(?:मैं|मेरा|मेरी|मेरे|हम|हमारा)(?![\p{L}\p{M}])/iu
const ASKS = /[?？؟]["'”’)\]]*$/u

export const isAboutSpeaker = (text: string): boolean => SPEAKER_WORDS.test(text.replaceAll("’", "'"))

/** What a passage tells of its speaker. */
export const toldIn = ({ kind, isSaid, text }: Pick<Passage, "kind" | "isSaid" | "text">): string =>
  kind === "user" && isSaid ? told(text) : ""

/** It is asked for when a passage is added, and when the lists of the index follow it. */
const told = remembering((text) => {
  const stated = sentenceParts(text).filter((sentence) => !ASKS.test(sentence))
  const own = stated.filter((sentence) => isAboutSpeaker(sentence) && !isEnglishRequest(sentence))
  const others = stated.filter((sentence) => !own.includes(sentence))
  return [...own, ...standingRules(others.join("\n"))].join("\n")
})
