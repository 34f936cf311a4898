"""The names and forms in program text that `program_text` looks for, of all languages together.

In the code that they are searched in, each string is a number in quotes: `os.system("3")`.
"""

import re

from siding.shellguard.names import names

HASH = names("python perl ruby php R Rscript julia elixir awk tclsh expect crystal nim octave")
BACKTICKS_RUN = names("perl ruby php julia crystal")
BARE_WORDS = names("tclsh wish expect m4")  # `exec rm -rf x`: no quotes around a command

STRINGS = (
    r"(?P<long>\"\"\"|''')(?P<text>.*?)(?P=long)"
    r"|(?P<quote>[\"'])(?P<short>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)"
    r"|(?P<tick>`)(?P<line>(?:\\.|[^\\`])*)`"
    r"|(?P<comment>/[\"'`]+/|(?:(?<=\s)|^){}[^\n]*|[\"'`])"
)
JOINED = r'"\d+"(?:\s*\+\s*"\d+")+'
STRING = r'[A-Za-z]{0,2}"(\d+)"'
STARTS = (
    r"(?:(?:[sS]ystem|[pP]open|[eE]xec|[sS]pawn|[sS]hell|Process)\w*|\b(?:run|call|sh|cmd"
    r"|check_(?:call|output)|getoutput|getstatusoutput|passthru|proc_open|Command"
    r"|(?:call|read)(?:Command|Process)|capture[23]e?|shell-command\S*|call-process|run-program"
    r"|e?syscmd)|\$|\bqx)"
)
COMMAND = (
    rf"{STARTS}\s*[(\[]?\s*(?:\{{?\s*(?:args|cmd|command)\s*[=:]|os\.P_\w+,)?\s*\[?\s*"
    rf"({STRING}(?:(?:[\s,\[\]]|c\(|\{{\s*args:)*{STRING})*)"
)
DIRECTORY = rf"\b(?:cwd|chdir|cd)\s*[=:]\s*{STRING}"
GOES_TO = r"\bchdir\b"
GOES_ON = r"([(\[,])\s*\n\s*|\s*\n\s*(?=[)\].])"  # a statement on several lines
LIST = r"\[\s*(\"\d+\"(?:\s*,\s*\"\d+\")+)"
# Files and directories that are listed, most often to do something with each.
LISTS = (
    r"\b(?:walk|listdir|scandir|i?glob|rglob|iterdir|readdir\w*|entries|children"
    r"|list\.files|find)\b|\bDir(?=\[)"
)
LISTED_BEFORE = re.compile(r"(.{0,300})\.(?:iterdir|r?glob|walk)\s*\(")
# Code that is loaded from a path, and links.
LOADS = (
    r"\b(?:run_path|spec_from_file_location|SourceFileLoader|load_source|CDLL|LoadLibrary|dlopen"
    r"|dofile|loadfile|require(?:_once)?|include(?:_once)?|import|source|load|dyn\.load"
    r"|sys\.path\.(?:insert|append))(?=\s*[(\"])"
)
LINKS = r"\b(?:s?y?m?link(?:Sync)?)(?=\s*[(\"])"
COMMAND_BEHIND = rf"{STRING}\s*(?:\.\s*(?:execute\b|!)|!!|\|\s*(?:getline|&))"
INTERPOLATED = r"[#$]\{[^}]{0,100}\}|(?<!\$)\{[^{} ,]{1,100}\}|%[sd]"

# Each turn ends with a parenthesis, so that a name can be taken in one way only.
PATH_MAKERS = (
    r"[\s(\[*]*(?:at(?:Path)?:\s*)?(?:(?:new\s+)?[\w.:]*(?:[pP]ath|expanduser|join|resolve|File|glob|normalize|scandir"
    r"|list\w*|readdir\w*)\s*\(\s*|glob\s+)*"
)
PATH = re.compile(rf"{PATH_MAKERS}{STRING}((?:\s*[,+/.]\s*{STRING})*)")
NAMED_PATH = re.compile(rf"{PATH_MAKERS}[$@]?([A-Za-z_]\w*)((?:\s*[,+/.]\s*{STRING})*)")
BOUND = re.compile(
    r"[$@]?\b([A-Za-z_]\w*)(?:,\s*(?:_|err))?\s*(?:=(?!=)|:=|\bin\b|\bof\b)\s*(.+)", re.DOTALL
)
READS_A_FILE = r"\bopen\b|read|load|\brun\b|exec|system|popen"

DELETES = (
    r"\b(?:rmtree|remove_tree|rm|rmSync|rmdir\w*|unlink\w*|removedirs|rm_rf?|(?<![.\w])remove"
    r"|remove_(?:dir|entry)\w*|removeSync|emptyDir\w*|(?:os|fs|fse|file|Deno)\.remove\w*(?:\.all)?"
    r"|remove(?:Item|Dir|File)|(?:File|Files|Dir|FileUtils)\.delete\w*|delete-(?:file|directory(?:/files)?)|deleteTree)\b[!?]?"
)
# A function that deletes is handed to another one: `map(os.remove, …)`, `array_map("3", …)`.
HANDED_DELETES = rf"(\b(?:map|array_\w+|call_user_func\w*)\(\s*(?:\"(\d+)\"|{DELETES}))\s*,"
HANDED_BEHIND = (
    rf"\.(?:forEach|map|each)\s*\(\s*&?(?:require\(\"\d+\"\)\.|[\w.]{{1,40}}\.)?{DELETES}\s*\)"
)
WRITES = (
    r"\b(?:write_?[fF]ile\w*|writeTextFile\w*|append_?[fF]ile\w*|createWriteStream|makedirs"
    r"|mkdir\w*|file_put_contents|(?:File|IO|Bun|Files)\.write\w*|touch"
    r"|extract(?:all)?|truncate(?:Sync)?|make_archive|sqlite3\.connect"
    r"|(?:os|fs|File|FileUtils|require\(\"\d+\"\))\.chmod\w*)\b|\bchmod\s+0?\d+\s*,"
    r"|(?<![.\w])chmod(?=\()|\bos\.l?chown\b"
)
GIVES_RIGHTS = r"\bFile\.ch(?:mod|own)\b"  # the path stands behind the rights
DATABASES = r"psycopg|pymysql|MySQLdb|asyncpg|\bPDO\b|\bClient\b|createConnection|create_engine"
WRITES_OF_R = r"\b(?:write(?:Lines|\.\w+)?|saveRDS|save|sink|ggsave)(?=\s*\()"
BARE_DELETES = r"\bfile\s+delete\s+(?:-\w*\s+)*([^\s\]}\"]+)"  # of Tcl, whose texts have no quotes
_OF_FILES = r"\b(?:shutil|os|fs|fse|fsPromises|FileUtils|Files?)\.|(?<![.\w])"
COPIES = (
    rf"(?:{_OF_FILES})(?:copy(?:file|tree|File|2)?|cp(?:_r)?|s?y?m?link|move|mv|renames?"
    r"|(?<=os\.)replace)(?:Sync)?\b|\burlretrieve\b|\bdownload_file\b"
    r"|\b(?:cp|copyFile|rename|symlink)Sync\b|\brename\b(?=\s*\")"
)
MOVES = rf"(?:{_OF_FILES})(?:move|mv|renames?|(?<=os\.)replace)(?:Sync)?\b|\brenameSync\b"
METHODS = re.compile(
    r"(.{0,300})\.(write_(?:text|bytes)|unlink|rmdir|touch|mkdir|delete(?:Dir|Recursively)?|rename"
    r"|read_(?:text|bytes))"
    r"\s*\("
)
BEFORE_A_PATH = re.compile(r"(?<![=!<>])=(?!=)|\b(?:in|return|if)\b|:\s|,\s")
OPENS = r"\b(?:f?open|popen|file|sysopen|ZipFile)\b"
READS = (
    r"\b(?:readFile\w*|File\.read\w*|file_get_contents|createReadStream|readfile|readlines?"
    r"|read_(?:csv|json)|slurp|File)\b"
)
WRITE_MODE = r"w[:|]\w*|[rbt]*[wax+][bt+]*|>>?|\+[<>]"

RUNS_TEXT = (
    r"(?:\b(?:pickle|dill)\.loads?\b\s*[(]|(?<![.\w-])(?:exec|eval|Function|compile"
    r"|loadstring)\b\s*[( ]|\(eval\))"
)
# Rules that a text matches by what stands anywhere in it.
AT_ALL = {
    "kill-all": r"\bkill(?:pg)?\b\W{1,3}-?1\b|\bkill\b[\s(]*:?\"?\w+\"?\s*,\s*-1\b",
    "siding-itself": (
        r"\bkill(?:pg)?\b[^\n]{0,40}\b(?:p?getppid|ppid|listdir|glob|process_iter)\b"
        r"|\b(?:kill|terminate)\(\)[^\n]{0,80}\bprocess_iter\b"
        r"|\bprocess_iter\b[^\n]{0,80}\.(?:kill|terminate)\("
    ),
    "fork-bomb": (
        r"\bwhile\b[^\n]{0,40}\bfork\b|\bfork\s+while\b|\bloop\s*\{\s*fork\b"
        r"|\bwhile\s+(?:True|1)\s*:\s*(?:os\.)?fork\b"
    ),
    "change-remote": r"\bboto3\b(?s:.*)\.(?:delete|terminate|put|create|stop|attach)\w*\(",
    "destroy-data": (
        r"\.(?:flushall|flushdb|drop_database|dropDatabase)\("
        r"|\bdocker\.from_env\b(?s:.*)\.(?:prune|remove|kill|stop)\w*\("
    ),
    "print-secret": (
        r"\bkeyring\.get_(?:password|credential)\(|\bget_(?:frozen_)?credentials\(|\bget_session_token\("
        r"|\b(?:get_secret_value|getSecretValue|GetSecretValue\w*|read_secret_version|access_?[sS]ecret_?[vV]ersion)\b"
        r"|\bWithDecryption\s*=\s*True|\bCredential\(\)\.get_token\(|\bfromNodeProviderChain\b"
        r"|\b\w+Credential\(\)\.get_?[tT]oken\(|\bdefaultProvider\(\)|\bgoogle\.auth\.default\((?s:.*)\.token\b"
        r"|\bnetrc\.netrc\(|\bcredentials\.secret_access_key\b"
    ),
    "schedule": r"\bCronTab\(",
}
# A loop that never ends; what ends one, or waits in it; and what writes in it.
ENDLESS = (
    r"\bitertools\.count\(\s*\)|\bwhile\s*\(?\s*(?:[Tt]rue|TRUE|1)\b\s*\)?|\bfor\s*\(\s*;\s*;\s*\)"
    r"|\bloop\s*(?:do\b|\{)"
)
ENDS = (
    r"\b(?:break|return|sleep|exit|last|raise|await|accept|recv\w*|input|read\w*|getline|quit|wait\w*"
    r"|die|yield|poll|select|listen|throw|shift|next|pop)\b"
)
GROWS = (
    r"<<|\bprint\s+\{?\$?[A-Z]+\b|\bwrite\w*\s*\(|append|file_put_contents|\bf?puts?\b|\bprintf?\b[^\n;]*>|\bfwrite\b"
    r"|\bcopy\w*\s*\("
)
FETCHES = (
    r"urlopen|urlretrieve|\b(?:requests|httpx|https?|axios)\.get\b|\brequire\(\"\d+\"\)\.get\b"
    r"|\bfetch\s*\(|URI\.open|open-uri|\bLWP\b"
)
DECODES = (
    r"b64decode|base64_decode|decode64|\batob\b|unhexlify|fromhex|rot_?13|fromCharCode|marshal"
    r"|Buffer\.from\b"
)
SENDS = (
    r"\.(?:post|put|patch)\(|\b(?:requests|httpx|session|client|axios|https?|got)\.(?:post|put|patch)\b|\bdata\s*="
    r"|\bbody\s*:|\b(?:sendall|sendto|sendmail|upload\w*)\b"
)
CONNECTS = (
    rf"(?:\bHTTPS?Connection\(|\b(?:create_)?connect\w*\(\(|\bconnect\(\d+,|Socket\.new\(|\b(?:SMTP|FTP)(?:_\w+)?\()"
    rf"\s*{STRING}"
)
# A path below the home that is put together, whatever is done with it, and what deletes.
AFTER_HOME = (
    rf"((?:[\s+.,/*<>~)]|\bstr\b|\.(?:appendingPathComponent|resolve|join(?:path)?)\()*{STRING})+"
)
ANY_DELETES = (
    r"(?i)rm_?rf|rmtree|remove_?(?:all|item|file|dir)|delete_?(?:dir|file|tree)|deleterecursively"
    r"|rimraf|\b(?:os|fs|file|deno)\.(?:remove|delete|rm)|delete-(?:file|directory|tree)"
    r"|\b(?:unlink|rmdir|rm)\b"
)
ONLY_LOOKS = (
    r"\b(?:exists?|isfile|isdir|is_file|is_dir|access|l?stat(?:Sync)?|file_exists|existsSync"
    r"|isFile)\b"
)
# The whole environment, and a pattern for names between slashes.
WHOLE_ENVIRONMENT = (
    r"\benviron(?:\.(?:items|keys|copy)\b|\)|\s+if\b)|\bprocess\.env\b(?![.\[])|%ENV\b|\bENVIRON\b(?!\[\")"
    r"|\bENV\.(?:each\w*|select|filter\w*|to_a|to_h|map|sort\w*|find_all|reject|grep)\b|\bgetenv\(\s*\)"
    r"|\benv\.toObject\b|\$_(?:ENV|SERVER)\b(?!\[)|\bget_env\(\s*\)|\bos\.Environ\(\)|\benv::vars\b"
)
BETWEEN_SLASHES = r"/([^/\n]{2,60})/"
HUGE = (
    r"(?:10\s*\*\*\s*(?:1[1-9]|[2-9]\d)|[1-9]e(?:1[1-9]|[2-9]\d)|[1-9](?:_?\d){11,}"
    r"|\d+\s*<<\s*(?:3[6-9]|[4-9]\d)|2\s*\*\*\s*(?:3[6-9]|[4-9]\d)|1024\s*\*\*\s*[4-9])\b"
)
# So many bytes: a text that is repeated, a place in a file, or turns of a loop that writes.
ASTRONOMIC = (
    rf"\"\d+\"\s*(?:\*|\bx)\s*{HUGE}"
    rf"|\b(?:seek|f?truncate\w*|\w*fallocate|alloc\w*)[( ][^\n;]{{0,80}}?\b{HUGE}"
)
MANY_TURNS = rf"(?:\brange\(|<=?\s*|\.\.){HUGE}|\b{HUGE}\.times\b"
SERVES = rf"(?:(?:HTTP|TCP)Server\(\(\s*{STRING}|\blisten\(\s*\d+\s*,\s*{STRING})(?=\s*[,)])"
SHOWS = r"\b(?:print|puts|echo|say|console\.\w+|cat|write|p|dump)\b"
HOME = (
    r"\bSystem\.user_home!?(?:\(\))?|\bNSHomeDirectory\(\)|\bgetHomeDir(?:ectory)?\b(?:\(\))?"
    r"|(?:\bSystem\.Directory\.)?\bgetHomeDirectory\b|\bos\.UserHomeDir\(\)|File::HomeDir->my_home\b"
    r"|(?:\b\w+::){0,3}\bhome_dir\(\)(?:\.unwrap\(\))?|\bhomeDirectoryForCurrentUser\b(?:\.path)?"
    r"|\$env\(HOME\)|\bPath\.home\b(?!\()"
    r"|(?:\bEnvironment\.|\[Environment\]::)GetFolderPath\([^()]*\)"
    r"|(?:\b__import__\(\"\d+\"\)\.|\b\w+\.)?\bPath\.home\(\)|\bDir\.home\b"
    r"|(?:\brequire\(\"\d+\"\)\.|\b\w+\.)?\bhomedir\(\)|\bprocess\.env\.HOME\b|\$?ENV\{HOME\}"
)
HOME_IN_COMMAND = r"[#$]?\{[^{}]{0,60}\b(?:HOME|homedir|home)\b[^{}]{0,20}\}|\$ENV\{HOME\}"
HOME_IN_STRING = r"^(?:\$env\(HOME\)|[#$]?\{[^}]*(?:HOME|home)[^}]*\}|\$HOME\b|\$ENV\{HOME\})"
OF_ENVIRONMENT = (
    rf"(?:\b(?:os|[sS]ystem|Sys|Deno|std|env|java\.lang\.System)(?:\.|::|/)){{0,3}}"
    rf"(?:environ(?:\.get)?|ENV(?:IRON|\.fetch)?|[gG]etenv|get_env|fetch_env!|getProperty|properties|sys\.env|var|\$_(?:SERVER|ENV)|\benv\.get|process\.env)\W{{1,3}}{STRING}[)\]]?"
    r"|process\.env\.(\w+)|\$ENV\{(\w+)\}"
)
