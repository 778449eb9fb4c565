/** Resolves the project a caller means: from its options, else the environment, the user's settings, or the directory. */
import { InvalidOptionError } from "../base/options.ts"
import { PROJECT_VARIABLE, type Project, projectAt } from "../base/project.ts"
import { loadSettings, type Settings } from "../settings/settings.ts"
import type { Store } from "./store.ts"

export interface ResolveProjectOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The root directory of Strata's files, which contains the user's settings. */
  readonly root: string
  /** The caller's `project` option. */
  readonly project?: string | undefined
  /** Settings that are already loaded. Default: those of the root and the directory. */
  readonly settings?: Pick<Settings, "project">
  readonly store?: Store
}

/** Throws if the store is shared and only a path could name the project. */
export async function resolveProject({
  cwd,
  env,
  root,
  project,
  settings,
  store,
}: ResolveProjectOptions): Promise<Project> {
  const isNamed = project !== undefined || (env[PROJECT_VARIABLE] ?? "").trim() !== ""
  const named = isNamed ? project : (settings ?? (await loadSettings({ home: root, cwd, env })).values).project
  const found = await projectAt({ cwd, env, project: named })
  if (store?.isShared && found.from === "path") throw projectNotNamedError(store, found)
  return found
}

const projectNotNamedError = ({ description }: Store, { directory }: Project) =>
  new InvalidOptionError(
    "project",
    `The store (${description}) is shared, and only its path names this project (${directory}). Another machine may have another project there, so nothing was opened. Name it with the option "project", with ${PROJECT_VARIABLE}, or by a git remote.`,
  )
