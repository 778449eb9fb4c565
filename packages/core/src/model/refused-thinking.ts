/**
 * How servers say that they do not take thinking as it was sent: another server signed it, or what came before it has changed. They share
 * no error code for it, so the text is matched. A parameter about thinking is the client's own, and thinking that is missing cannot be left
 * out.
 */
import { errorReason } from "../base/errors.ts"

const PATTERNS: readonly RegExp[] = [
  /\bsignature\b.{0,40}\bthinking\b/i, // Anthropic: Invalid `signature` in `thinking` block
  /\bthinking\b.{0,40}\bsignature\b/i,
  /\bmessages\.\d+\.content\.\d+\.(?:redacted_)?thinking\b/i, // the path of a field of the block
  /\bthinking\b.? blocks\b.{0,80}\b(?:cannot be modified|not (?:allowed|permitted|supported))\b/i,
]

/** Of our own errors, those of any SDK, or the text of an answer. */
export function refusesThinking(refusal: unknown): boolean {
  const said = errorReason(refusal)
  return PATTERNS.some((pattern) => pattern.test(said))
}
