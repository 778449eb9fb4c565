/** Finds secrets in a text, so that none is ever written to memory. */
import { SECRET_RULES } from "./secret-rules.ts"

export interface FoundSecret {
  readonly at: number
  readonly length: number
  readonly kind: string
}

/** The secrets in a text, first to last, without overlaps. */
export function findSecrets(text: string): readonly FoundSecret[] {
  const found = SECRET_RULES.flatMap(({ kind, pattern, isSecret }) =>
    [...text.matchAll(pattern)].flatMap((match) => {
      const value = match.groups?.secret ?? match[0]
      const at = match.groups?.secret === undefined ? match.index : match.index + match[0].lastIndexOf(value)
      return isSecret && !isSecret(value, match[0]) ? [] : [{ at, length: value.length, kind }]
    }),
  )
  const sorted = found.sort((a, b) => a.at - b.at || b.length - a.length)
  const kept: FoundSecret[] = []
  for (const secret of sorted) {
    const last = kept.at(-1)
    const lastEnd = last ? last.at + last.length : 0
    if (!last || secret.at >= lastEnd) kept.push(secret)
    else if (secret.at + secret.length > lastEnd)
      kept[kept.length - 1] = { ...last, length: secret.at + secret.length - last.at }
  }
  return kept
}

/** The text with each secret replaced by a note that says what kind it was. */
export function maskSecrets(text: string): string {
  const found = findSecrets(text)
  let at = 0
  let masked = ""
  for (const secret of found) {
    masked += `${text.slice(at, secret.at)}[secret removed: ${secret.kind}]`
    at = secret.at + secret.length
  }
  return masked + text.slice(at)
}
