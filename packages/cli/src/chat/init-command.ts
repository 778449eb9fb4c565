/** `/init`: the agent writes the project's instruction file, or improves the one that is there. */
import { initPrompt } from "@strata/core/agent"
import type { CommandTarget } from "./command-target.ts"

export async function init(target: CommandTarget, wish: string): Promise<void> {
  await target.send(initPrompt({ directory: target.place.cwd, wish }), `/init ${wish}`.trim())
}
