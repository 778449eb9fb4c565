/** Words that make the text read as if translated, and the technical terms that are allowed. */

export interface Phrase {
  readonly name: string
  readonly pattern: RegExp
  readonly instead: string
}

/** Phrases that may not occur in documentation, screens or comments. They are also checked in prompts whose change alters no request. */
export const GONE: readonly Phrase[] = [
  { name: "stands", pattern: /\b(?:stands(?! for)|stood)\b/gi, instead: "is" },
  { name: "told", pattern: /\btold\b/gi, instead: "reported, sent" },
  { name: "anew", pattern: /\banew\b/gi, instead: "again" },
  { name: "is had", pattern: /\b(?:is|are|was|be) had\b/gi, instead: "comes from, can be read" },
  { name: "is none", pattern: /\b(?:is|are) none\b/gi, instead: "no …, does not exist" },
  { name: "whatever is", pattern: /\bwhatever (?:is|was|are)\b/gi, instead: "anything that, everything else" },
  { name: "goes along", pattern: /\b(?:go|goes|going|went) along\b/gi, instead: "moves with it, is included" },
  { name: "spared", pattern: /\bspare[sd]\b/gi, instead: "saved" },
]

/** Words that may not occur in documentation or comments. Tests and messages quote users, so they may contain them. */
export const DIALECT: readonly Phrase[] = [
  { name: "door", pattern: /\bdoors?\b/gi, instead: "entry point, adapter, access" },
  { name: "seat", pattern: /\bseats?\b/gi, instead: "permit" },
  { name: "shelf", pattern: /\b(?:shelf|shelves)\b/gi, instead: "passage store" },
  { name: "purse", pattern: /\bpurses?\b/gi, instead: "cost budget" },
  { name: "brain", pattern: /\bbrains?\b/gi, instead: "responder" },
  { name: "marks", pattern: /\bmarks\b/gi, instead: "breakpoints, scores" },
  { name: "residue", pattern: /\bresidues?\b/gi, instead: "stub" },
  { name: "telling", pattern: /\btelling\b/gi, instead: "distinctive" },
  { name: "said", pattern: /\bsaid\b/gi, instead: "wrote, stated, reported" },
  { name: "beside", pattern: /\bbeside\b/gi, instead: "next to, compared with" },
]

/** Phrases that are only counted: right in most contexts, wrong as a label for the user's messages. */
export const WATCHED: readonly Phrase[] = [{ name: "words", pattern: /\bwords\b/gi, instead: "your messages" }]

/** Uses that are the exact term, each with its reason. Any other use is reported. */
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
