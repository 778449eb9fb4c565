/** Removes parts of a line as long as it still does harm. */

const MAX_TRIES = 60

export async function shrink(line: string, doesHarm: (line: string) => Promise<boolean>): Promise<string> {
  let shortest = line
  let tries = 0
  for (let size = Math.ceil(tokensOf(shortest).length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < tokensOf(shortest).length && tries < MAX_TRIES; ) {
      const tokens = tokensOf(shortest)
      const candidate = [...tokens.slice(0, at), ...tokens.slice(at + size)].join("")
      tries++
      if (candidate.trim() !== "" && (await doesHarm(candidate))) shortest = candidate
      else at += size
    }
  }
  return shortest
}

const tokensOf = (line: string): readonly string[] => line.match(/\s+|[\w./-]+|[\s\S]/g) ?? []
