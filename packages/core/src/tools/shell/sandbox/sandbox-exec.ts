/**
 * The sandbox of macOS: a profile for `sandbox-exec`. Of two rules that fit, the later one counts. What could start a program outside is
 * denied too: events to other programs, jobs, opening files with their programs.
 */
import { type Enclosure, mountsOf } from "./enclosure.ts"

export const sandboxExecArguments = (enclosure: Enclosure): readonly string[] => ["-p", profileOf(enclosure)]

export function profileOf(enclosure: Enclosure): string {
  const { scratch, hasNetwork } = enclosure
  const places = mountsOf(enclosure).map((mount) => {
    const place = `(subpath ${quoted(mount.path)})`
    if (mount.how === "hide") return `(deny file-read* file-write* ${place})`
    return mount.how === "show" ? `(allow file-read* ${place})` : `(allow file-read* file-write* ${place})`
  })
  return [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (subpath "/dev/fd"))',
    ...(hasNetwork ? [] : ["(deny network*)"]),
    "(deny appleevent-send)",
    "(deny job-creation)",
    '(deny mach-lookup (global-name "com.apple.coreservices.launchservicesd") (global-name "com.apple.pasteboard.1"))',
    "(deny signal (target others))",
    "(allow signal (target same-sandbox))",
    ...places,
    `(allow file-read* file-write* (subpath ${quoted(scratch)}))`,
    "(allow file-read-metadata)", // programs look at each directory of a path
  ].join("\n")
}

const quoted = (path: string): string => `"${path.replace(/[\\"]/g, "\\$&")}"`
