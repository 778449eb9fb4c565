/** The sentences of a text, verbatim. A full stop inside `v1.2` or after `Dr.` ends none; those of Chinese, Japanese, Hindi and Arabic always do. */

export const ENDS =
  /(?<=[.!…]["'”’)\]*_]*)(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St|vs|etc|e\.g|i\.e)\.)\s+(?=[^\p{Ll}])|(?<=[?]["'”’)\]*_]*)\s+|(?<=[。！？।؟۔])\s*|\n+/u

/** What follows a colon at the end of a line belongs to it: `Never do this:` and a list. Only the whole of it is a sentence. */
export function sentencesIn(text: string): readonly string[] {
  const sentences = text.split(ENDS)
  const at = sentences.findIndex((sentence) => /:["'”’*_`]*\s*$/u.test(sentence))
  return at < 0 ? sentences : [...sentences.slice(0, at), sentences.slice(at).join("\n")]
}

/** The parts of a text, without what an introduction does to what follows it. */
export const sentenceParts = (text: string): readonly string[] => text.split(ENDS)
