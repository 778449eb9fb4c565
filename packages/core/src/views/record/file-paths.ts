/** Resolves the paths of tool calls, so that each file has one name. Windows paths stay Windows paths. */
import { posix, win32 } from "node:path"

const WINDOWS_PATH = /^[A-Za-z]:[\\/]/
/** How shells on Windows write `D:\a`. */
const DRIVE = /^\/([A-Za-z])\/(.*)$/s

/** `directory`: the directory to which relative paths refer. Without one they stay relative. */
export function resolvePath(path: string, directory: string | undefined): string {
  if (WINDOWS_PATH.test(directory ?? "")) {
    const [, drive, rest] = DRIVE.exec(path) ?? []
    const native = drive === undefined ? path : `${drive}:\\${rest}`
    return isPosixPath(native) ? native : normalizeWindowsPath(win32.resolve(directory!, native))
  }
  if (WINDOWS_PATH.test(path)) return normalizeWindowsPath(path)
  if (isFromHome(path)) return path
  if (posix.isAbsolute(path)) return posix.normalize(path)
  return directory === undefined ? posix.normalize(path) : posix.join(directory, path)
}

/** Normalises slashes and the case of the drive. */
const normalizeWindowsPath = (path: string): string => {
  const native = win32.normalize(path)
  return native.charAt(0).toUpperCase() + native.slice(1)
}

const isPosixPath = (path: string): boolean => path.startsWith("/") || isFromHome(path)
const isFromHome = (path: string): boolean => path === "~" || path.startsWith("~/")

export const isRelative = (path: string): boolean => !isPosixPath(path) && !WINDOWS_PATH.test(path)

/** Whether a path is inside a directory. */
export const isInside = (path: string, directory: string): boolean =>
  path.startsWith(`${directory}/`) || path.startsWith(`${directory}\\`)

const MIN_PARTS = 2 // of a relative path: many directories have a README.md

/** Whether an absolute path ends with a relative one: if the directory is unknown, they are the same file. */
export function endsWithPath(whole: string, relative: string): boolean {
  if (isRelative(whole) || !isRelative(relative)) return false
  const parts = relative.split(/[\\/]/)
  return parts.length >= MIN_PARTS && parts[0] !== ".." && whole.replaceAll("\\", "/").endsWith(`/${parts.join("/")}`)
}
