/** `strata install` and `strata uninstall`: what would change, and the change. */
import { spawnSync } from "node:child_process"
import { StrataError } from "@strata/core"
import type { Client, Environment, Installation } from "../clients.ts"
import { applyChanges, changesBack, type FileChange, readInstalled, takeBack } from "./changes.ts"
import { installClaudeCode, withoutClaudeCode } from "./claude-code.ts"
import { installOpencode, installPi, withoutOwnFile } from "./own-file.ts"

/** What is to be done: shown to the person first. */
export interface Plan {
  readonly changes: readonly FileChange[]
  /** What the person should know. */
  readonly notes: readonly string[]
  apply(): Promise<void>
}

export interface Order extends Omit<Installation, "hasMods"> {
  readonly client: Client
  /** Strata's own directory, where the copy is kept. */
  readonly home: string
}

export async function planInstall({ client, home, ...installation }: Order): Promise<Plan> {
  if (await readInstalled(client, home))
    throw new StrataError(
      `Strata is installed in ${client} already. Nothing was changed. Run "strata uninstall ${client}" first.`,
    )
  const version = client === "claude-code" ? versionOf("claude", installation.env) : undefined
  const hasMods = version === undefined || isSince(version, FIRST_WITH_MODS)
  const changes = await CHANGES[client].install({ ...installation, hasMods })
  const notes = hasMods
    ? []
    : [
        `Claude Code ${version?.join(".")} lets no plugin compact. The record follows its own summary; "mode" has no effect.`,
      ]
  return { changes, notes, apply: () => applyChanges(client, changes, home) }
}

export async function planUninstall({ client, home }: Pick<Order, "client" | "home">): Promise<Plan> {
  const installed = await readInstalled(client, home)
  if (!installed) throw new StrataError(`Strata is not installed in ${client}. Nothing was changed.`)
  const changes = await changesBack(installed, CHANGES[client].without)
  const isExact = changes.every(
    ({ path, after }) => (installed.files.find((f) => f.path === path)?.before ?? undefined) === after,
  )
  const notes = isExact ? [] : ["The settings have changed since. Only what Strata added is removed."]
  return { changes, notes, apply: () => takeBack(client, changes, home) }
}

interface Changes {
  readonly install: (installation: Installation) => Promise<readonly FileChange[]>
  /** `undefined`: nothing is left of the file. */
  readonly without: (path: string, text: string) => string | undefined
}

const CHANGES: Readonly<Record<Client, Changes>> = {
  "claude-code": { install: installClaudeCode, without: withoutClaudeCode },
  pi: { install: installPi, without: withoutOwnFile },
  opencode: { install: installOpencode, without: withoutOwnFile },
}

const FIRST_WITH_MODS = [2, 1, 287]

/** The version of an installed client; `undefined` where it cannot be started. */
function versionOf(command: string, env: Environment): readonly number[] | undefined {
  const { stdout = "" } = spawnSync(command, ["--version"], { env: { ...env }, encoding: "utf8", timeout: 10_000 })
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(stdout ?? "")
  return found ? found.slice(1).map(Number) : undefined
}

function isSince(version: readonly number[], first: readonly number[]): boolean {
  const at = version.findIndex((part, nth) => part !== first[nth])
  return at < 0 || version[at]! > first[at]!
}
