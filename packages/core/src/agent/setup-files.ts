/**
 * Files that other programs take orders from. An unasked edit of one would run a command later: `git status` runs what `.git/config` names,
 * a shell its start file, an agent the hooks in `.strata`, npm what `.npmrc` sets as its shell.
 */
import { sep } from "node:path"

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

const DIRECTORIES = listed(
  ".git .strata .claude .vscode .idea .fleet .zed .cursor .husky .devcontainer .cargo .mvn .ssh .gnupg .direnv",
)
/** A file named `HEAD` can make any directory a repository. */
const FILES = listed(
  `head .gitconfig .gitmodules .mcp.json .envrc .ripgreprc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs .bazelrc .mise.toml
  .tool-versions rust-toolchain rust-toolchain.toml
  lefthook.yml .lefthook.yml .pre-commit-config.yaml .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile
  .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .logout .inputrc .tmux.conf .vimrc .gvimrc .exrc .nvimrc
  .emacs .dir-locals.el .gdbinit .lldbinit .pythonrc sitecustomize.py usercustomize.py config.fish .netrc .curlrc .wgetrc`,
)

/** The part of a path that makes it such a file. Upper and lower case are one, as on the file systems of macOS and Windows. */
export function setupPart(path: string): string | undefined {
  const names = path.toLowerCase().split(sep)
  return names.find((name) => DIRECTORIES.has(name)) ?? (FILES.has(names.at(-1)!) ? names.at(-1) : undefined)
}
