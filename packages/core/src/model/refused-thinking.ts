/**
 * Recognizes a server's refusal of thinking: another server signed it, or the content before it has changed. Servers share no error code
 * for this, so the text is matched. Errors about a thinking parameter, or about missing thinking, are not matched: removing thinking would
 * not help.
 */
import { errorReason } from "../base/errors.ts"

const PATTERNS: readonly RegExp[] = [
  /\bsignature\b.{0,40}\bthinking\b/i, // Anthropic: Invalid `signature` in `thinking` block
  /\bthinking\b.{0,40}\bsignature\b/i,
  /\bmessages\.\d+\.content\.\d+\.(?:redacted_)?thinking\b/i, // the path of a field of the block
  /\bthinking\b.? blocks\b.{0,80}\b(?:cannot be modified|not (?:allowed|permitted|supported))\b/i,
]

/** Accepts our own errors, those of any SDK, or the text of a response. */
export function refusesThinking(refusal: unknown): boolean {
  const reason = errorReason(refusal)
  return PATTERNS.some((pattern) => pattern.test(reason))
}
