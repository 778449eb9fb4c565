/** A memory that the person asks for in so many words, for example a line that starts with `#` in the chat. */
import { StrataError } from "../../base/errors.ts"
import { findSecrets } from "../../base/secrets/find-secrets.ts"
import type { MemoryDraft, Provenance } from "../../memory/memory.ts"
import { titleOf } from "../../memory/own-words.ts"
import { isAboutThePerson } from "../../views/record/about-the-person.ts"

/** What the person asked to keep contains a secret, or nothing at all. */
export const notRemembered = (why: string, advice: string) =>
  new StrataError(`Nothing was saved: ${why}. ${advice}`, { code: "not-remembered" })

export function rememberedDraft(text: string, source: Provenance): MemoryDraft {
  const body = text.trim()
  if (body === "") throw notRemembered("the text is empty", "Write what to remember.")
  const [secret] = findSecrets(body)
  if (secret) {
    const advice = "Leave the secret out, and write where it is kept."
    throw notRemembered(`the text contains a secret (${secret.kind})`, advice)
  }
  return {
    ...titleOf(body),
    type: isAboutThePerson(body) ? "user" : "feedback",
    source,
    basis: "said",
    body,
  }
}
