/** Resolves the paths of tool calls, so that one file has one name. Paths of Windows stay paths of Windows. */
import { posix, win32 } from "node:path"

const OF_WINDOWS = /^[A-Za-z]:[\\/]/
/** How shells on Windows write `D:\a`. */
const DRIVE = /^\/([A-Za-z])\/(.*)$/s

/** `directory`: where relative paths start. Without one they stay relative. */
export function resolvedPath(path: string, directory: string | undefined): string {
  if (OF_WINDOWS.test(directory ?? "")) {
    const [, drive, rest] = DRIVE.exec(path) ?? []
    const native = drive === undefined ? path : `${drive}:\\${rest}`
    return isOfPosix(native) ? native : ofWindows(win32.resolve(directory!, native))
  }
  if (OF_WINDOWS.test(path)) return ofWindows(path)
  if (isFromHome(path)) return path
  if (posix.isAbsolute(path)) return posix.normalize(path)
  return directory === undefined ? posix.normalize(path) : posix.join(directory, path)
}

/** Slashes and the case of the drive are written in several ways. */
const ofWindows = (path: string): string => {
  const native = win32.normalize(path)
  return native.charAt(0).toUpperCase() + native.slice(1)
}

const isOfPosix = (path: string): boolean => path.startsWith("/") || isFromHome(path)
const isFromHome = (path: string): boolean => path === "~" || path.startsWith("~/")

export const isRelative = (path: string): boolean => !isOfPosix(path) && !OF_WINDOWS.test(path)

/** Whether a path is inside a directory. */
export const isInside = (path: string, directory: string): boolean =>
  path.startsWith(`${directory}/`) || path.startsWith(`${directory}\\`)

const FEWEST_PARTS = 2 // of a relative path: many directories have a README.md

/** Whether a whole path ends with a relative one: where the directory is not known, they are the same file. */
export function endsWithPath(whole: string, relative: string): boolean {
  if (isRelative(whole) || !isRelative(relative)) return false
  const parts = relative.split(/[\\/]/)
  return (
    parts.length >= FEWEST_PARTS && parts[0] !== ".." && whole.replaceAll("\\", "/").endsWith(`/${parts.join("/")}`)
  )
}
