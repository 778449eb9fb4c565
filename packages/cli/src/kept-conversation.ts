/** A kept conversation, opened to change what is sent of it. No model is asked and no key is needed. */
import { realpath } from "node:fs/promises"
import type { Conversation } from "@strata/core/internal"
import { projectName } from "@strata/core/internal/base/ids"
import { openConversation } from "@strata/core/internal/conversation/open"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { defaultRoot } from "@strata/core/internal/journal/file/layout"
import { listOpenable } from "@strata/core/internal/journal/openable"
import { type Call, UsageError } from "./command.ts"
import { findById } from "./conversation-names.ts"
import { modelFrom } from "./session-options.ts"

export interface KeptOptions extends Pick<Call, "cwd" | "env"> {
  /** The start of its id. Default: the newest conversation of the project. */
  readonly id?: string | undefined
}

export async function openKeptConversation({ cwd, env, id }: KeptOptions): Promise<Conversation> {
  const root = defaultRoot(env)
  const directory = await realpath(cwd)
  const store = fileStore({ root })
  const all = await listOpenable(store, projectName(directory))
  const begun = all.filter(({ facts, firstWords }) => facts !== undefined || firstWords !== undefined)
  if (begun.length === 0) throw new UsageError("This project has no conversation yet.")
  const conversation = id === undefined ? begun[0]! : findById(id, begun)
  return openConversation({
    model: conversation.facts?.model ?? modelFrom(undefined, env),
    id: conversation.id,
    mustExist: true,
    ...{ store, cwd: directory, env, layers: [] },
  })
}
