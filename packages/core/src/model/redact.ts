/**
 * Removes keys from every text that a user or a log may show. Providers quote the key they refuse, and addresses contain keys as
 * parameters. Placeholders in explanations stay, because they tell the user what to write.
 */

const HIDDEN = "[key removed]"

/** Matches placeholders for a key: `${NAME}`, `<key>`, `YOUR_KEY`. */
const PLACEHOLDER = /^(?:[$<{[(%]|[A-Z]+(?:_[A-Z]+)*\W*$)/

/** Matches a word of a sentence, as in "Bearer authentication". */
const WORD = /^[A-Za-z]{1,16}[.:;!?)]*$/

interface KeyShape {
  readonly shape: RegExp
  /** Matches that are not keys. */
  readonly except?: readonly RegExp[]
}

/** Common forms of keys. */
const KEY_SHAPES: readonly KeyShape[] = [
  { shape: /\bsk-[\w-]{6,}/g }, // Anthropic, OpenAI, OpenRouter and others that imitate them
  { shape: /\bAIza[\w-]{20,}/g }, // Google
  { shape: /\bAKIA[A-Z0-9]{12,}/g }, // AWS
  { shape: /(?<=\bbearer\s+)[^\s"',]+/gi, except: [PLACEHOLDER, WORD] },
  { shape: /(?<=[?&](?:key|api[-_]?key|access_token|token)=)[^&\s"']+/gi, except: [PLACEHOLDER] },
  { shape: /(?<=\bx-api-key["']?\s*[:=]\s*["']?)[^\s"',]{6,}/gi, except: [PLACEHOLDER] },
]

const MIN_LENGTH_ANYWHERE = 8 // characters: a shorter key may be part of ordinary words
const MIN_KEY_LENGTH = 4 // characters: a shorter value is not a key and may be a word

/** `secrets` are keys in use, whatever their form. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const withoutKnown = secrets.filter(({ length }) => length >= MIN_KEY_LENGTH).reduce(withoutKey, text)
  return KEY_SHAPES.reduce(
    (left, { shape, except = [] }) =>
      left.replace(shape, (key) => (except.some((one) => one.test(key)) ? key : HIDDEN)),
    withoutKnown,
  )
}

function withoutKey(text: string, key: string): string {
  if (key.length >= MIN_LENGTH_ANYWHERE) return text.replaceAll(key, HIDDEN)
  const literal = key.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
  return text.replace(new RegExp(`(?<![\\p{L}\\p{N}])${literal}(?![\\p{L}\\p{N}])`, "gu"), HIDDEN)
}
