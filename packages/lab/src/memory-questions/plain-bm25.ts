/** Classic BM25 over lower-case words, to compare with. */
const K1 = 1.2
const B = 0.75

const lowerCaseWords = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

/** Answers with the positions of the texts that share a word with the question, the best first. */
export function plainBm25(texts: readonly string[], wordsOf = lowerCaseWords): (question: string) => readonly number[] {
  const postings = new Map<string, Map<number, number>>()
  const lengths = texts.map((text, at) => {
    const words = wordsOf(text)
    for (const word of words) {
      const counts = postings.get(word) ?? new Map<number, number>()
      counts.set(at, (counts.get(at) ?? 0) + 1)
      postings.set(word, counts)
    }
    return words.length
  })
  const average = lengths.reduce((total, length) => total + length, 0) / lengths.length
  return (question) => {
    const scores = new Map<number, number>()
    for (const word of wordsOf(question)) {
      const counts = postings.get(word) ?? new Map<number, number>()
      const rarity = Math.log(1 + (texts.length - counts.size + 0.5) / (counts.size + 0.5))
      for (const [at, count] of counts) {
        const part = (rarity * count * (K1 + 1)) / (count + K1 * (1 - B + (B * lengths[at]!) / average))
        scores.set(at, (scores.get(at) ?? 0) + part)
      }
    }
    return [...scores].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([at]) => at)
  }
}
