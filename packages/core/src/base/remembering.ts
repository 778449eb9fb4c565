/** A function of a text that remembers its newest answers: the same files and outputs are read again and again. */

const MOST_CHARACTERS = 4_000_000 // of all remembered texts: about 8 MB

/** `most`: texts, where only the newest are asked about again. */
export function remembering<T extends object | string>(
  work: (text: string) => T,
  { most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {},
): (text: string) => T {
  const known = new Map<string, T>()
  let characters = 0
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = work(text)
    known.set(text, made)
    characters += text.length
    for (const oldest of known.keys()) {
      if (characters <= MOST_CHARACTERS && known.size <= most) break
      known.delete(oldest)
      characters -= oldest.length
    }
    return made
  }
}
