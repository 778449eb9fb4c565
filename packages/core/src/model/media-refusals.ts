/** How providers say that they cannot use an image or a document. They share no error code for it, so the text is matched. */
import { InvalidModelRequestError } from "./errors.ts"

const REFUSALS: readonly RegExp[] = [
  /could not process (?:the )?(?:image|pdf|document)/i, // Anthropic
  /\b(?:image|document|pdf)\b.{0,80}\b(?:exceeds?|too large|invalid|unsupported|not supported|not valid|corrupt|could not|cannot|failed)/is,
  /\b(?:invalid|unsupported|corrupt(?:ed)?|unable to (?:process|decode|read)|failed to (?:process|decode|load))\b.{0,40}\b(?:image|document|pdf)\b/is,
  /\bmodel\b.{0,40}\bdoes(?: not|n't) support\b.{0,40}\b(?:image|vision|document|pdf)/is,
  /\.(?:image|document)\.source\b/i, // the path of a block in Anthropic's message
]

/** Whether a request may be accepted without its images and documents. */
export const refusesMedia = (error: unknown): error is InvalidModelRequestError =>
  error instanceof InvalidModelRequestError && REFUSALS.some((pattern) => pattern.test(error.said ?? ""))
