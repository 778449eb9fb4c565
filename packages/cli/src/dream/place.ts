/** The dreams of the project that a directory belongs to, without a conversation. */
import { realpath } from "node:fs/promises"
import type { DreamFigures, Dreaming } from "@strata/core/internal"
import { judge } from "@strata/core/internal/agent/permissions"
import { systemClock } from "@strata/core/internal/base/clock"
import { createFlags } from "@strata/core/internal/base/flags"
import { localPerson } from "@strata/core/internal/base/owner"
import { repositoryRoot } from "@strata/core/internal/base/repository"
import { readSettings } from "@strata/core/internal/base/settings"
import { trustOf } from "@strata/core/internal/base/trust"
import { projectDreams } from "@strata/core/internal/conversation/project-dreams"
import { openProjectMemory } from "@strata/core/internal/conversation/project-memory"
import { fileStore } from "@strata/core/internal/journal/file/file-store"
import { defaultRoot } from "@strata/core/internal/journal/file/layout"
import { dreamFigures } from "@strata/core/internal/layers/6-dreaming/dreaming-layer"
import { offlineModel } from "@strata/core/internal/model/offline/offline-model"
import { type Call, UsageError } from "../command.ts"
import { connectionFrom } from "../connection.ts"
import { modelFrom } from "../session-options.ts"

export interface DreamPlace {
  readonly dreaming: Dreaming
  readonly figures: DreamFigures
  /** Without a connection the offline model dreams. */
  readonly isConnected: boolean
  close(): void
}

export interface DreamPlaceOptions extends Pick<Call, "cwd" | "env"> {
  readonly model?: string | undefined
}

export async function openDreamPlace({ cwd: given, env, model }: DreamPlaceOptions): Promise<DreamPlace> {
  const root = defaultRoot(env)
  const cwd = await realpath(given)
  const reading = await readSettings({ home: root, cwd, env })
  const trust = await trustOf(root, reading)
  const { values } = reading.settings({ trusted: trust.state !== "untrusted" })
  const memory = await openProjectMemory({
    ...{ store: fileStore({ root }), owner: localPerson, cwd, root, clock: systemClock },
    mode: values.off ? "off" : values.memory,
    code: repositoryRoot(cwd),
  })
  const connection = connectionFrom(env)
  const { allow = [], ask = [], deny = [] } = values.permissions
  const policy = { mode: "ask", allow, ask, deny, project: cwd, kept: [], readable: ["/"] } as const
  const dreaming =
    memory &&
    projectDreams({
      ...{ memory, project: cwd, env, clock: systemClock },
      model: connection?.model(values.summariserModel ?? modelFrom(model, env), values.models) ?? offlineModel(),
      rules: (tool, question) => {
        const { verdict, why } = judge({ tool, question, isReadOnly: true }, policy)
        return verdict === "allow" || `${why}.`
      },
    })
  if (!dreaming) {
    memory?.close()
    throw new UsageError(`Memory may not be written: the setting memory is "${values.off ? "off" : values.memory}".`)
  }
  return {
    dreaming,
    figures: dreamFigures(createFlags({ settings: values }).current),
    isConnected: connection !== undefined,
    close: () => memory?.close(),
  }
}
