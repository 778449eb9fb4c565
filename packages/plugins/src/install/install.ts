/** `strata install` and `strata uninstall`: what would change, and the change. */

import { spawnSync } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"
import { StrataError } from "@strata/core"
import type { Client, Environment, Installation } from "../clients.ts"
import { pluginDirectory } from "../plugin-directory.ts"
import {
  applyChanges,
  type ChangeOutcome,
  changesBack,
  type FileChange,
  readInstalled,
  takeBack,
  textIn,
} from "./changes.ts"
import { installClaudeCode, installKeepHook, withoutClaudeCode, withoutKeepHook } from "./claude-code.ts"

// What an installation adds to pi and to opencode: one file in the directory that they load by themselves. It names our code and its options.

const FILE = "strata.ts"
const source = (client: Client) => JSON.stringify(join(pluginDirectory(client), FILE))

export function installPi(installation: Installation): Promise<readonly FileChange[]> {
  const directory = installation.env.PI_CODING_AGENT_DIR ?? join(homeOf(installation.env), ".pi", "agent")
  return added(join(directory, "extensions", FILE), [
    `import strata from ${source("pi")}`,
    `export default (pi) => strata(pi, ${optionsOf(installation)})`,
  ])
}

export function installOpencode(installation: Installation): Promise<readonly FileChange[]> {
  const directory = installation.env.XDG_CONFIG_HOME ?? join(homeOf(installation.env), ".config")
  return added(join(directory, "opencode", "plugin", FILE), [
    `import { Strata as strata } from ${source("opencode")}`,
    `export const Strata = (input) => strata(input, ${optionsOf(installation)})`,
  ])
}

/** All of the file was added, whatever the person changed in it. */
export const withoutOwnFile = (): undefined => undefined

async function added(path: string, lines: readonly string[]): Promise<readonly FileChange[]> {
  if ((await textIn(path)) !== undefined)
    throw new StrataError(`There is a file ${path} that Strata did not write. Nothing was changed. Remove it first.`)
  return [{ path, before: undefined, after: `${lines.join("\n")}\n` }]
}

const optionsOf = ({ mode, program }: Installation) => JSON.stringify({ mode, program })
const homeOf = (env: Environment) => env.HOME ?? homedir()

/** What is to be done: shown to the person first. */
export interface Plan {
  readonly changes: readonly FileChange[]
  /** What the person should know. */
  readonly notes: readonly string[]
  /** Makes exactly these changes, or none: then plan again. */
  apply(): Promise<ChangeOutcome>
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
  const plan = await planRemoval({ record: client, home, without: CHANGES[client].without })
  if (!plan) throw new StrataError(`Strata is not installed in ${client}. Nothing was changed.`)
  return plan
}

const KEEP_RECORD = "claude-code-keep"

/** A hook of Claude Code that keeps its sessions. It comes and goes without the rest of Strata. */
export async function planKeepHook({ home, ...installation }: Pick<Order, "env" | "program" | "home">): Promise<Plan> {
  if (await readInstalled(KEEP_RECORD, home))
    throw new StrataError(
      'Claude Code keeps its sessions already. Nothing was changed. "strata archive --uninstall claude-code" ends that.',
    )
  const changes = await installKeepHook(installation)
  return { changes, notes: [], apply: () => applyChanges(KEEP_RECORD, changes, home) }
}

/** Nothing if the hook is not installed. */
export const planKeepHookRemoval = ({ home }: Pick<Order, "home">): Promise<Plan | undefined> =>
  planRemoval({ record: KEEP_RECORD, home, without: withoutKeepHook })

interface Removal extends Pick<Order, "home"> {
  /** The name of what is kept about the installation. */
  readonly record: string
  readonly without: Changes["without"]
}

async function planRemoval({ record, home, without }: Removal): Promise<Plan | undefined> {
  const installed = await readInstalled(record, home)
  if (!installed) return undefined
  const changes = await changesBack(installed, without)
  const isExact = changes.every(
    ({ path, after }) => (installed.files.find((f) => f.path === path)?.before ?? undefined) === after,
  )
  const notes = isExact ? [] : ["The settings have changed since. Only what Strata added is removed."]
  return { changes, notes, apply: () => takeBack(record, changes, home) }
}

/** Whether the agent has Strata, apart from the hook that keeps sessions. */
export const isInstalled = async ({ client, home }: Pick<Order, "client" | "home">): Promise<boolean> =>
  (await readInstalled(client, home)) !== undefined

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
