/** A memory that the person asks for in so many words, for example a line that starts with `#` in the chat. */
import { StrataError } from "../../base/errors.ts"
import { findSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryDraft, Provenance } from "../../memory/memory.ts"
import { titleOf } from "../../memory/own-words.ts"
import { isAboutThePerson } from "../../views/record/about-the-person.ts"

/** What the person asked to keep contains a secret, or nothing at all. */
export class NotRememberedError extends StrataError {
  override readonly name = "NotRememberedError"

  constructor(why: string, advice: string) {
    super(`Nothing was saved: ${why}. ${advice}`)
  }
}

export function rememberedDraft(text: string, source: Provenance): MemoryDraft {
  const body = text.trim()
  if (body === "") throw new NotRememberedError("the text is empty", "Write what to remember.")
  const [secret] = findSecrets(body)
  if (secret) {
    const advice = "Leave the secret out, and write where it is kept."
    throw new NotRememberedError(`the text contains a secret (${secret.kind})`, advice)
  }
  return {
    ...titleOf(body),
    type: isAboutThePerson(body) ? "user" : "feedback",
    source,
    basis: "said",
    body,
  }
}
