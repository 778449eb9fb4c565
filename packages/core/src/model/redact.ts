/**
 * Keeps keys out of every text a person or a log may see. Providers quote the key they refuse, and addresses carry keys as parameters. What
 * an explanation says in a key's place stays: without it, the person does not learn what to write there.
 */

const HIDDEN = "[key removed]"

/** `${NAME}`, `<key>`, `YOUR_KEY`: in a key's place. */
const PLACEHOLDER = /^(?:[$<{[(%]|[A-Z]+(?:_[A-Z]+)*\W*$)/

/** A word of a sentence, such as "Bearer authentication". */
const WORD = /^[A-Za-z]{1,16}[.:;!?)]*$/

interface KeyShape {
  readonly shape: RegExp
  /** What matches, and is no key. */
  readonly except?: readonly RegExp[]
}

/** What keys look like. */
const KEY_SHAPES: readonly KeyShape[] = [
  { shape: /\bsk-[\w-]{6,}/g }, // Anthropic, OpenAI, OpenRouter and others that imitate them
  { shape: /\bAIza[\w-]{20,}/g }, // Google
  { shape: /\bAKIA[A-Z0-9]{12,}/g }, // AWS
  { shape: /(?<=\bbearer\s+)[^\s"',]+/gi, except: [PLACEHOLDER, WORD] },
  { shape: /(?<=[?&](?:key|api[-_]?key|access_token|token)=)[^&\s"']+/gi, except: [PLACEHOLDER] },
  { shape: /(?<=\bx-api-key["']?\s*[:=]\s*["']?)[^\s"',]{6,}/gi, except: [PLACEHOLDER] },
]

const MIN_LENGTH_ANYWHERE = 8 // characters: a shorter one may be a part of ordinary words
const MIN_KEY_LENGTH = 4 // characters: a shorter value of a header or a variable is no key, and may be a word

/** `secrets` are keys known to be in use, which need not look like one. */
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
