/** The permission policy: mode, rules, directories, and files that always need approval. */
import { homedir } from "node:os"
import { join, relative, sep } from "node:path"
import type { PermissionMode } from "../../base/enums.ts"
import { PROJECTS } from "../../journal/file/layout.ts"
import { INDEX_FILE, isTopicFile } from "../../memory/file-names.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { SIGN_INS } from "../tools/mcp/sign-in/sign-in-store.ts"
import { type ProjectCopy, pathFits } from "./path-rules.ts"
import { type PermissionRule, parseRule } from "./rules.ts"

export interface PermissionPolicy {
  readonly mode: PermissionMode
  /** Rules: `Tool`, `Tool(pattern)`. A pattern matches paths, or commands: a complete command or its prefix (`npm test:*`). */
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  /** The project's directory, which can be read without permission. */
  readonly project: string
  /** Further directories that can be read without permission: offloaded results of this project, the user's skills. */
  readonly readable?: readonly string[]
  /** Directories of Strata that no tool may write to: journals, locks, memories. */
  readonly protectedDirectories: readonly string[]
  /** The memory of this project, inside a protected directory, and whether file tools may write memories there. */
  readonly memory?: { readonly directory: string; readonly writes: "allow" | "ask" | "deny" }
  /** Directory for `~` in rules. Default: the home directory. */
  readonly home?: string
  /** Set if the project is in a copy of a repository. Rules that deny or ask apply to both copies. */
  readonly copy?: ProjectCopy
}

const FROM_NARROW_TO_WIDE: readonly PermissionMode[] = ["plan", "ask", "accept-edits", "bypass"]

/** The policy of a sub-agent: its lead's rules, and the narrower of the two modes. */
export function narrowPolicy(own: PermissionPolicy, lead: PermissionPolicy): PermissionPolicy {
  const width = Math.min(...[own, lead].map(({ mode }) => FROM_NARROW_TO_WIDE.indexOf(mode)))
  const { allow, ask, deny } = lead
  return { ...own, mode: FROM_NARROW_TO_WIDE[width]!, allow, ask, deny }
}

export interface JudgementRequest {
  readonly tool: string
  readonly isReadOnly: boolean
  /** The tool's own requirement. Rules take precedence. */
  readonly needsApproval?: boolean | undefined
  readonly question: PermissionQuestion
}

export type Judgement =
  /**
   * `unapproved`: no user, rule or mode approved the call. It may run because it changes nothing, or because its tool needs no approval.
   */
  | { readonly verdict: "allow"; readonly why: string; readonly unapproved?: true }
  /** `onlyUser`: a hook cannot approve it for the user. */
  | { readonly verdict: "ask"; readonly why: string; readonly onlyUser?: true }
  | { readonly verdict: "deny"; readonly why: string }

export const PLANNING = "plan mode is on: read and plan, change nothing"
export const allow = (why: string): Judgement => ({ verdict: "allow", why })
export const allowUnapproved = (why: string): Judgement => ({ ...allow(why), verdict: "allow", unapproved: true })
export const ask = (why: string) => ({ verdict: "ask", why }) as const
export const deny = (why: string): Judgement => ({ verdict: "deny", why })

export const isProtected = (path: string, { protectedDirectories }: PermissionPolicy): boolean =>
  protectedDirectories.some((directory) => isInside(path, directory))

/** Whether all paths are memories of this project or its index. Its history and archive are not. */
export function areMemories(paths: readonly string[], { memory }: PermissionPolicy): boolean {
  if (!memory) return false
  return (
    paths.length > 0 &&
    paths.every((path) => {
      const inside = isInside(path, memory.directory) ? relative(memory.directory, path).split(sep).join("/") : ""
      return inside === INDEX_FILE || isTopicFile(inside)
    })
  )
}

/**
 * Whether a path can be read without permission. Tokens and data of other conversations and owners need permission, even if the project is
 * the home directory.
 */
export function isReadable(
  path: string,
  { project, readable = [], memory, protectedDirectories }: PermissionPolicy,
): boolean {
  const isAmong = (folder: string) => protectedDirectories.some((directory) => isInside(path, join(directory, folder)))
  if (isAmong(SIGN_INS)) return false
  const own = [...readable, ...(memory ? [memory.directory] : [])]
  return [...own, ...(isAmong(PROJECTS) ? [] : [project])].some((place) => isInside(path, place))
}

/** Whether a path contains tokens or data of other owners, so that a search would reach them. */
export const isAroundOthers = (path: string, { protectedDirectories }: PermissionPolicy): boolean =>
  protectedDirectories.some((directory) =>
    [SIGN_INS, PROJECTS].some((folder) => isInside(join(directory, folder), path)),
  )

/**
 * The first file that decides which programs run and that no rule names. A rule for a parent directory is not enough: a user who allows
 * edits in the project does not think of `.git/hooks`.
 */
export function setupAmong(paths: readonly string[], policy: PermissionPolicy): string | undefined {
  const { project } = policy
  const shortened = (path: string) => (isInside(path, project) ? relative(project, path) : path)
  const found = paths.find((path) => {
    const part = setupPart(shortened(path))
    return part !== undefined && !policy.allow.some((text) => namesSetup(parseRule(text), { path, part, policy }))
  })
  return found === undefined ? undefined : shortened(found)
}

interface SetupFile {
  readonly path: string
  readonly part: string
  readonly policy: PermissionPolicy
}

function namesSetup(rule: PermissionRule, { path, part, policy }: SetupFile): boolean {
  if (rule.tool !== "Edit" && rule.tool !== "Write") return false
  if (rule.pattern === undefined) return true
  return (
    rule.pattern.toLowerCase().includes(part) && pathFits(rule.pattern, path, { ...pathRoots(policy), strict: false })
  )
}

export const pathRoots = ({ project, home = homedir(), copy }: PermissionPolicy) => ({ project, home, copy })

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

/**
 * Directories with files that make other programs run commands. An unapproved edit would run a command later: `git status` runs commands
 * from `.git/config`, a shell its startup file, an agent the hooks in `.strata`, npm the shell set in `.npmrc`.
 */
const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const DIRECTORIES = wordSet(
  ".git .strata .claude .vscode .idea .fleet .zed .cursor .husky .devcontainer .cargo .mvn .ssh .gnupg .direnv",
)
/** Files that make other programs run commands. A file named `HEAD` can turn any directory into a repository. */
const FILES = wordSet(
  `head .gitconfig .gitmodules .mcp.json .claude.json .envrc .ripgreprc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .bazelrc .mise.toml
  .tool-versions rust-toolchain rust-toolchain.toml
  lefthook.yml .lefthook.yml .pre-commit-config.yaml .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile
  .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .tmux.conf .vimrc .gvimrc .exrc .nvimrc
  .emacs .dir-locals.el .gdbinit .lldbinit .pythonrc sitecustomize.py usercustomize.py config.fish .netrc .curlrc .wgetrc`,
)

/** The part of a path that identifies such a file. Ignores case, like the file systems of macOS and Windows. */
function setupPart(path: string): string | undefined {
  const names = path.toLowerCase().split(sep)
  return names.find((name) => DIRECTORIES.has(name)) ?? (FILES.has(names.at(-1)!) ? names.at(-1) : undefined)
}
