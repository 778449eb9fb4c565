/** `/status`: what this conversation runs with. */
import { type Sandbox, sandboxSentence, systemSandbox } from "@strata/core/internal/tools/shell/sandbox/sandbox"
import type { CommandTarget } from "./command-target.ts"
import { hanging } from "./panels.ts"

export async function showStatus(target: CommandTarget): Promise<void> {
  const { agent } = target
  const { conversation } = agent
  const status = {
    ...{ id: conversation.id, model: agent.model.name, mode: agent.mode, sandbox: await systemSandbox() },
    settings: conversation.settings.values,
    directory: agent.shared.state.directory,
  }
  target.print("Status", (columns) => statusLines(status, columns))
}

export interface Status {
  readonly id: string
  readonly model: string
  readonly mode: string
  readonly directory: string
  readonly sandbox: Sandbox
  readonly settings: { readonly sandbox: Parameters<typeof sandboxSentence>[0] }
}

export const statusLines = (status: Status, columns: number): readonly string[] =>
  hanging(
    [
      ["conversation", status.id],
      ["model", status.model],
      ["mode", status.mode],
      ["directory", status.directory],
      ["sandbox", sandboxSentence(status.settings.sandbox, status.sandbox)],
    ],
    { columns },
  )
