/** What a judgement is made of: the mode, the rules, the places, and the files that always ask. */
import { homedir } from "node:os"
import { join, relative, sep } from "node:path"
import type { PermissionMode } from "../../base/vocabulary.ts"
import { PROJECTS } from "../../journal/file/layout.ts"
import { INDEX_FILE, isTopicFile } from "../../memory/file-names.ts"
import type { PermissionQuestion } from "../../tools/tool.ts"
import { SIGN_INS } from "../tools/mcp/sign-in/sign-in-store.ts"
import { type ProjectCopy, pathFits } from "./path-rules.ts"
import { parseRule, type Rule } from "./rules.ts"

export interface PermissionPolicy {
  readonly mode: PermissionMode
  /** Rules: `Tool`, `Tool(pattern)`. A pattern names paths, or commands: a whole command or its start (`npm test:*`). */
  readonly allow: readonly string[]
  readonly ask: readonly string[]
  readonly deny: readonly string[]
  /** The project's directory. Reading in it needs no permission. */
  readonly project: string
  /** Other directories that need no permission to read: this project's large results that were put aside, the person's own skills. */
  readonly readable?: readonly string[]
  /** Directories that no tool may write to: journals, locks, memories. */
  readonly kept: readonly string[]
  /** The memory of this project, inside what is kept: file tools may write memories there, as far as this says. */
  readonly memory?: { readonly directory: string; readonly writes: "allow" | "ask" | "deny" }
  /** What `~` means in rules. Default: your home directory. */
  readonly home?: string
  /** The project's directory is in a copy of a repository. Rules that deny or ask count for both. */
  readonly copy?: ProjectCopy
}

const FROM_NARROW_TO_WIDE: readonly PermissionMode[] = ["plan", "ask", "accept-edits", "bypass"]

/** The policy of an agent that works for another one: the other's rules, and the narrower of the two modes. */
export function narrowed(own: PermissionPolicy, lead: PermissionPolicy): PermissionPolicy {
  const width = Math.min(...[own, lead].map(({ mode }) => FROM_NARROW_TO_WIDE.indexOf(mode)))
  const { allow, ask, deny } = lead
  return { ...own, mode: FROM_NARROW_TO_WIDE[width]!, allow, ask, deny }
}

export interface Request {
  readonly tool: string
  readonly isReadOnly: boolean
  /** What the tool itself says. Rules that deny, ask or allow come first. */
  readonly needsApproval?: boolean | undefined
  readonly question: PermissionQuestion
}

export type Judgement =
  /** `unasked`: no person, rule or mode said yes. It may run because it changes nothing, or because its tool asks for no approval. */
  | { readonly verdict: "allow"; readonly why: string; readonly unasked?: true }
  /** `onlyPerson`: a hook cannot say yes in place of the person. */
  | { readonly verdict: "ask"; readonly why: string; readonly onlyUser?: true }
  | { readonly verdict: "deny"; readonly why: string }

export const PLANNING = "plan mode is on: read and plan, change nothing"
export const allow = (why: string): Judgement => ({ verdict: "allow", why })
export const allowUnasked = (why: string): Judgement => ({ ...allow(why), verdict: "allow", unasked: true })
export const ask = (why: string) => ({ verdict: "ask", why }) as const
export const deny = (why: string): Judgement => ({ verdict: "deny", why })

export const isKept = (path: string, { kept }: PermissionPolicy): boolean =>
  kept.some((directory) => isInside(path, directory))

/** Whether all of these are memories of this project, or its index. Its history and its archive are not. */
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
 * Reading there needs no permission. Tokens, and what other conversations and owners keep, are asked for even if the project is the home
 * directory.
 */
export function isReadable(path: string, { project, readable = [], memory, kept }: PermissionPolicy): boolean {
  const isAmong = (folder: string) => kept.some((directory) => isInside(path, join(directory, folder)))
  if (isAmong(SIGN_INS)) return false
  const own = [...readable, ...(memory ? [memory.directory] : [])]
  return [...own, ...(isAmong(PROJECTS) ? [] : [project])].some((place) => isInside(path, place))
}

/** Whether tokens, and what others keep, are below a path, so that a search there would come to them. */
export const isAroundOthers = (path: string, { kept }: PermissionPolicy): boolean =>
  kept.some((directory) => [SIGN_INS, PROJECTS].some((folder) => isInside(join(directory, folder), path)))

/**
 * The first file that decides which programs run, and that no rule names. A rule for a directory around it does not: who allows edits in
 * the project has not thought of `.git/hooks`.
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

function namesSetup(rule: Rule, { path, part, policy }: SetupFile): boolean {
  if (rule.tool !== "Edit" && rule.tool !== "Write") return false
  if (rule.pattern === undefined) return true
  return (
    rule.pattern.toLowerCase().includes(part) && pathFits(rule.pattern, path, { ...placeOf(policy), strict: false })
  )
}

export const placeOf = ({ project, home = homedir(), copy }: PermissionPolicy) => ({ project, home, copy })

export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep)
}

/**
 * Files that other programs take orders from. An unasked edit of one would run a command later: `git status` runs what `.git/config` names,
 * a shell its start file, an agent the hooks in `.strata`, npm what `.npmrc` sets as its shell.
 */
const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const DIRECTORIES = listed(
  ".git .strata .claude .vscode .idea .fleet .zed .cursor .husky .devcontainer .cargo .mvn .ssh .gnupg .direnv",
)
/** A file named `HEAD` can make any directory a repository. */
const FILES = listed(
  `head .gitconfig .gitmodules .mcp.json .claude.json .envrc .ripgreprc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .bazelrc .mise.toml
  .tool-versions rust-toolchain rust-toolchain.toml
  lefthook.yml .lefthook.yml .pre-commit-config.yaml .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile
  .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .tmux.conf .vimrc .gvimrc .exrc .nvimrc
  .emacs .dir-locals.el .gdbinit .lldbinit .pythonrc sitecustomize.py usercustomize.py config.fish .netrc .curlrc .wgetrc`,
)

/** The part of a path that makes it such a file. Upper and lower case are one, as on the file systems of macOS and Windows. */
function setupPart(path: string): string | undefined {
  const names = path.toLowerCase().split(sep)
  return names.find((name) => DIRECTORIES.has(name)) ?? (FILES.has(names.at(-1)!) ? names.at(-1) : undefined)
}
