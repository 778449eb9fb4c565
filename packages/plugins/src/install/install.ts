/** `strata install` and `strata uninstall`: plans the changes, and applies them. */

import { spawnSync } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"
import { StrataError } from "@strata/core"
import type { Client, Environment, Installation } from "../clients.ts"
import { pluginDirectory } from "../plugin-directory.ts"
import { installArchiveHook, installClaudeCode, withoutArchiveHook, withoutClaudeCode } from "./claude-code.ts"
import {
  applyChanges,
  type ChangeOutcome,
  type FileChange,
  planRevert,
  readInstallation,
  revertChanges,
  textIn,
} from "./file-changes.ts"

// Additions to pi and to opencode: one file in a directory that they load automatically. It imports Strata's plugin and sets its options.

const FILE = "strata.ts"
const source = (client: Client) => JSON.stringify(join(pluginDirectory(client), FILE))

export function installPi(installation: Installation): Promise<readonly FileChange[]> {
  const directory = installation.env.PI_CODING_AGENT_DIR ?? join(homeOf(installation.env), ".pi", "agent")
  return addFile(join(directory, "extensions", FILE), [
    `import strata from ${source("pi")}`,
    `export default (pi) => strata(pi, ${optionsOf(installation)})`,
  ])
}

export function installOpencode(installation: Installation): Promise<readonly FileChange[]> {
  const directory = installation.env.XDG_CONFIG_HOME ?? join(homeOf(installation.env), ".config")
  return addFile(join(directory, "opencode", "plugin", FILE), [
    `import { Strata as strata } from ${source("opencode")}`,
    `export const Strata = (input) => strata(input, ${optionsOf(installation)})`,
  ])
}

/** Removes the complete file, whatever the user changed in it. */
export const withoutAddedFile = (): undefined => undefined

async function addFile(path: string, lines: readonly string[]): Promise<readonly FileChange[]> {
  if ((await textIn(path)) !== undefined)
    throw new StrataError(
      `The file ${path} exists and was not written by Strata. Nothing was changed. Remove it first.`,
    )
  return [{ path, before: undefined, after: `${lines.join("\n")}\n` }]
}

const optionsOf = ({ mode, program }: Installation) => JSON.stringify({ mode, program })
const homeOf = (env: Environment) => env.HOME ?? homedir()

/** The planned changes, displayed to the user first. */
export interface InstallPlan {
  readonly changes: readonly FileChange[]
  /** Information for the user. */
  readonly notes: readonly string[]
  /** Applies exactly these changes, or none; in that case plan again. */
  apply(): Promise<ChangeOutcome>
}

export interface InstallRequest extends Omit<Installation, "hasMods"> {
  readonly client: Client
  /** Strata's own directory, which contains the backup. */
  readonly home: string
}

export async function planInstall({ client, home, ...installation }: InstallRequest): Promise<InstallPlan> {
  if (await readInstallation(client, home))
    throw new StrataError(
      `Strata is installed in ${client} already. Nothing was changed. Run "strata uninstall ${client}" first.`,
    )
  const version = client === "claude-code" ? versionOf("claude", installation.env) : undefined
  const hasMods = version === undefined || isSince(version, FIRST_WITH_MODS)
  const changes = await INSTALLERS[client].install({ ...installation, hasMods })
  const notes = hasMods
    ? []
    : [
        `Claude Code ${version?.join(".")} does not let plugins compact. The record follows its own summary; "mode" has no effect.`,
      ]
  return { changes, notes, apply: () => applyChanges(client, changes, home) }
}

export async function planUninstall({ client, home }: Pick<InstallRequest, "client" | "home">): Promise<InstallPlan> {
  const plan = await planRemoval({ record: client, home, without: INSTALLERS[client].without })
  if (!plan) throw new StrataError(`Strata is not installed in ${client}. Nothing was changed.`)
  return plan
}

const ARCHIVE_HOOK_RECORD = "claude-code-keep"

/** Plans a hook of Claude Code that archives its sessions. It is installed and removed independently of the plugin. */
export async function planArchiveHook({
  home,
  ...installation
}: Pick<InstallRequest, "env" | "program" | "home">): Promise<InstallPlan> {
  if (await readInstallation(ARCHIVE_HOOK_RECORD, home))
    throw new StrataError(
      'The hook that archives sessions of Claude Code is already installed. Nothing was changed. "strata archive --uninstall claude-code" removes it.',
    )
  const changes = await installArchiveHook(installation)
  return { changes, notes: [], apply: () => applyChanges(ARCHIVE_HOOK_RECORD, changes, home) }
}

/** `undefined` if the hook is not installed. */
export const planArchiveHookRemoval = ({ home }: Pick<InstallRequest, "home">): Promise<InstallPlan | undefined> =>
  planRemoval({ record: ARCHIVE_HOOK_RECORD, home, without: withoutArchiveHook })

interface RemovalOptions extends Pick<InstallRequest, "home"> {
  /** The name of the stored record. */
  readonly record: string
  readonly without: ClientInstaller["without"]
}

async function planRemoval({ record, home, without }: RemovalOptions): Promise<InstallPlan | undefined> {
  const installed = await readInstallation(record, home)
  if (!installed) return undefined
  const changes = await planRevert(installed, without)
  const isExact = changes.every(
    ({ path, after }) => (installed.files.find((f) => f.path === path)?.before ?? undefined) === after,
  )
  const notes = isExact ? [] : ["The settings have changed since. Only what Strata added is removed."]
  return { changes, notes, apply: () => revertChanges(record, changes, home) }
}

/** Whether the plugin is installed in the agent, apart from the hook that archives sessions. */
export const isInstalled = async ({ client, home }: Pick<InstallRequest, "client" | "home">): Promise<boolean> =>
  (await readInstallation(client, home)) !== undefined

interface ClientInstaller {
  readonly install: (installation: Installation) => Promise<readonly FileChange[]>
  /** Removes Strata's additions from a file. `undefined`: the file is deleted. */
  readonly without: (path: string, text: string) => string | undefined
}

const INSTALLERS: Readonly<Record<Client, ClientInstaller>> = {
  "claude-code": { install: installClaudeCode, without: withoutClaudeCode },
  pi: { install: installPi, without: withoutAddedFile },
  opencode: { install: installOpencode, without: withoutAddedFile },
}

const FIRST_WITH_MODS = [2, 1, 287]

/** The version of an installed client; `undefined` if it cannot be started. */
function versionOf(command: string, env: Environment): readonly number[] | undefined {
  const { stdout = "" } = spawnSync(command, ["--version"], { env: { ...env }, encoding: "utf8", timeout: 10_000 })
  const found = /(\d+)\.(\d+)\.(\d+)/.exec(stdout ?? "")
  return found ? found.slice(1).map(Number) : undefined
}

function isSince(version: readonly number[], first: readonly number[]): boolean {
  const at = version.findIndex((part, nth) => part !== first[nth])
  return at < 0 || version[at]! > first[at]!
}
