/**
 * Keeps keys out of every text a person or a log may see. Providers quote the key they refuse, and addresses carry keys as parameters.
 */

const HIDDEN = "[key removed]"

/** What keys look like. */
const KEY_SHAPES: readonly RegExp[] = [
  /\bsk-[\w-]{6,}/g, // Anthropic, OpenAI, OpenRouter and others that imitate them
  /\bAIza[\w-]{20,}/g, // Google
  /\bAKIA[A-Z0-9]{12,}/g, // AWS
  /(?<=\bbearer\s+)[^\s"',]+/gi,
  /(?<=[?&](?:key|api[-_]?key|access_token|token)=)[^&\s"']+/gi,
  /(?<=\bx-api-key["']?\s*[:=]\s*["']?)[^\s"',]{6,}/gi,
]

/** `secrets` are keys known to be in use, which need not look like one. */
export function redact(text: string, secrets: readonly string[] = []): string {
  const withoutKnown = secrets.filter(Boolean).reduce((left, secret) => left.replaceAll(secret, HIDDEN), text)
  return KEY_SHAPES.reduce((left, shape) => left.replace(shape, HIDDEN), withoutKnown)
}
