/**
 * What a person prefers, in English: "I prefer tea", "I'd rather walk than drive", "I hate phone calls", "short answers, please". It is about
 * things in general, so they have no article, or are compared. What points at one thing that is there is about the task: "I prefer the second".
 */
import { ALL, any, PRODUCT, PRODUCTS, pattern, WAYS } from "./lasting-rules-phrases.ts"

/** Not in "a chart, which I prefer". */
const I = "(?<!\\b(?:which|what|whether|than|if|as|like|where|think|guess|sure) )\\bi"
const OFTEN =
  "(?: (?:generally|usually|always|really|strongly|much|also|still|personally|tend to|typically|normally|do|just|absolutely|particularly))*"
const PREFERENCE = pattern(
  any(
    `${I}${OFTEN} (?:prefer|favou?r|prioriti[sz]e)\\b`,
    `${I}(?:'d| would)${OFTEN} prefer (?:that |if |it if |it when |for )?(?:you|all|every|any|no|answers|your)\\b`,
    `${I} (?:always|usually|generally|normally|typically) (?:choose|pick|go for|take|opt for|buy|book|order)\\b`,
    "(?<!\\b(?:if|whether|how) )\\bmy (?:general |strong |personal )?(?:preference (?:is|would be|for)|(?:preferred|favou?rite|go-to) [\\w ]{2,30} (?:is|are)) (?!not\\b|this\\b|that\\b)(?<!\\b(?:in|of|from|on|about) (?:the|this|that|your) .*)",
  ),
)
/** One of several things that are on the table. */
const PREFERS_AT_HAND =
  /\b(?:prefer|favou?r|prioriti[sz]e)\s+(?:the|this|that(?! you)|these|those|it\b(?! if| when)|yours|its|option|version|number|plan)\b(?! (?:kind|sort|type|way|use|idea|style)s? of)/iu
const ONE =
  "(?:the|this|that|these|those|it|its|yours?|his|her|their|him|them|both|(?:option|version|number|plan) \\w)\\b"
const NOW = "(?:now|later|again|today|tonight|tomorrow|instead)\\b"
/** What it is compared with may be there. */
const RATHER = pattern(
  `^(?!if\\b).*${I}(?:'d| would)(?: much| really)? rather (?:you\\b|(?!(?:(?!(?:than|for|when|with|in)\\b)[\\w'-]+ ){0,5}?${ONE})(?!.*\\b${NOW})\\w)`,
)
const TASTE = pattern(
  any(
    `^(?:[\\w' ]{2,40}, )?i${OFTEN} (?:(?:(?:don't|do not|dont|never) )?(?:really |much )?(?:like|love|enjoy|adore)|hate|dislike|detest|can't stand|cannot stand)`,
    "^(?:[\\w' ]{2,40}, )?i(?:'m| am) (?:not )?an? (?:big |huge |great )?fan of",
  ) +
    `(?! (?:to|how|when|where|what|if|an?|our|some|all|everything|you|me|us|hearing|being)\\b)(?! (?:\\w+ )?${ONE})(?! \\w+'s\\b)(?!.*\\bthe ones? (?:you|that)\\b) \\w`,
)
const LIKING = pattern(
  "\\bi (?:really |only |always |just |also |much )*(?:like|love|enjoy|hate|dislike|(?:don't|do not|dont) (?:like|want|need)|can't stand|want|need|expect|appreciate|(?:'d|would) like|would love)\\b(?! help\\b)|\\bi'd (?:like|love)\\b",
)
const LIKED = pattern(
  any(
    `\\b(?:your|my) (?:\\w+ )?${PRODUCTS}`,
    `(?<!\\b(?:the|these|those|this|some|an?|two|three|five|to \\w+) (?:\\w+ )?)\\b${WAYS}\\b(?! (?:for|about|on|to|like|of)\\b)`,
    `\\b${ALL} (?:your |my |the |our )?(?:\\w+ )?(?:${PRODUCT}|keywords|names|dates|numbers|prices|figures|units|variables|identifiers|titles|headings|sources|links)\\b`,
    "\\bit when you\\b",
    "\\bfrom you\\b",
  ),
)
const ALWAYS_WANTED =
  /\bi (?:always|usually|generally|normally|typically) (?:want|like|expect|need)(?! to (?:go|do|make|be able))\b|\bi(?:'d| would) (?:always like|like to always|always want|always prefer)\b/iu
const WANTS_TO = /\bi(?:'d| would)? (?:want|need|like|love) to\b/iu

/** "I chose Rust for it, and I prefer it to Go": what it is was said before. */
const COMPARED = pattern(
  `^(?!i${OFTEN} (?:prefer|favou?r)).*\\b(?:prefer|favou?r) (?:it|them|th(?:is|at) \\w+) (?:over|to|rather than)\\b`,
)

export function isPreference(sentence: string): boolean {
  if (PREFERENCE.test(sentence)) return !PREFERS_AT_HAND.test(sentence) || COMPARED.test(sentence)
  if (ALWAYS_WANTED.test(sentence) || RATHER.test(sentence) || TASTE.test(sentence)) return true
  return sentence.split(/[,;]/u).some((part) => LIKING.test(part) && LIKED.test(part) && !WANTS_TO.test(part))
}

/** How answers look. */
const FORM = any(
  WAYS,
  ...["sentences", "paragraphs", "words", "bullets", "bullet points", "lists", "units", "spelling", "english", "tone"],
  ...["text", "prose", "markdown", "language", "formatting", "headings", "tables", "diagrams", "emojis"],
)
const PLEASE = "(?:please|pl[sz])"
const FORM_PLEASE = pattern(`^(?:${PLEASE},? )?(?:no )?(?:[\\w-]+ )?${FORM}(?: only)?,? ${PLEASE}\\b`)
/** One of several, or more of them, is a request. */
const ONE_OR_MORE =
  /^(?:an?|the|this|that|another|more|less|fewer|next|other|some|my|your|its|one|two|three|\d+|now|same|longer|shorter)\b/iu

/** "Short answers, please": it has no verb, and is about how all answers look. */
export const isFormPlease = (sentence: string): boolean => FORM_PLEASE.test(sentence) && !ONE_OR_MORE.test(sentence)

/** "No pictures please" */
export const NONE_PLEASE = pattern(`^(?:${PLEASE},? no (?:[\\w-]+ ?){1,4}|no (?:[\\w-]+,? ){1,4}${PLEASE})[.!]*$`)
