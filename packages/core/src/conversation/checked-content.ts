/** Bad content is refused before it is in the journal, where the caller can still tell where it came from. */
import { InvalidContentError } from "../base/errors.ts"
import type { Content } from "../messages/blocks.ts"

export function checkedContent({ role, content }: { role: string; content: Content }): Content {
  if (role !== "user")
    throw new InvalidContentError(
      `its role is ${JSON.stringify(role)}; only "user" can be added, a response is recorded`,
    )
  if (typeof content === "string") {
    if (content.trim() === "") throw new InvalidContentError("it is empty")
    return content
  }
  if (!Array.isArray(content) || content.length === 0)
    throw new InvalidContentError("its content is neither text nor a list of blocks")
  const odd = content.findIndex((block) => typeof (block as { type?: unknown } | null)?.type !== "string")
  if (odd >= 0) throw new InvalidContentError(`block ${odd} of its content has no type`)
  return content
}
