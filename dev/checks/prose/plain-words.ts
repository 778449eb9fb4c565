/** Words that make the text read as if translated, and where a technical use of one is right. */

export interface Phrase {
  readonly name: string
  readonly pattern: RegExp
  readonly instead: string
}

/** None of these may be left in documentation, screens, prompts or comments. */
export const GONE: readonly Phrase[] = [
  { name: "stands", pattern: /\b(?:stands|stood)\b/gi, instead: "is" },
  { name: "behind", pattern: /\bbehind\b/gi, instead: "after" },
  { name: "told", pattern: /\btold\b/gi, instead: "said, reported, sent" },
  { name: "anew", pattern: /\banew\b/gi, instead: "again" },
  { name: "is had", pattern: /\b(?:is|are|was|be) had\b/gi, instead: "comes from, can be read" },
  { name: "is none", pattern: /\b(?:is|are) none\b/gi, instead: "no …, does not exist" },
  { name: "whoever", pattern: /\bwhoever\b/gi, instead: "the caller, anyone who" },
  { name: "whatever is", pattern: /\bwhatever (?:is|was|are)\b/gi, instead: "anything that, everything else" },
  { name: "nobody", pattern: /\bnobody\b/gi, instead: "no one, or a plain negative" },
  { name: "lies", pattern: /\blies\b/gi, instead: "is" },
  { name: "his", pattern: /\bhis\b/gi, instead: "their" },
  { name: "goes along", pattern: /\b(?:go|goes|going|went) along\b/gi, instead: "moves with it, is included" },
  { name: "spared", pattern: /\bspare[sd]\b/gi, instead: "saved" },
]

/** Counted and printed only: right in most places, wrong as a label for the user's messages. */
export const WATCHED: readonly Phrase[] = [{ name: "words", pattern: /\bwords\b/gi, instead: "your messages" }]

/** Uses that are the exact term. Each has its reason; anything not listed here counts. */
export const ALLOWED: readonly { readonly in: string; readonly text: string; readonly reason: string }[] = [
  {
    in: "packages/core/src/views/record/lasting-rules-phrases.ts",
    text: "told|",
    reason: "a word that people type, in a pattern",
  },
  {
    in: "packages/core/src/views/record/replaced-values.ts",
    text: "their his her",
    reason: "words that people type, in a list",
  },
]
