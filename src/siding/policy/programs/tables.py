"""Programs that need no judge of their own, by what they do."""

from siding.policy.names import names

# Their arguments are text, numbers or names; none of them is a file that is read or changed.
INERT = names(
    """
    true false : [ test expr seq sleep wait jobs pwd whoami id uname uptime nproc arch cal tty
    groups logname return exit break continue shift times getopts type which whereis help
    apropos whatis umask ulimit bg fg disown history dirs factor tput clear reset users who w
    last locale getconf lscpu lsblk lsusb lspci lsmod free vmstat iostat mpstat ps pgrep pidof
    pstree top htop nvidia-smi sw_vers banner figlet cowsay sync stty yes uuidgen fc
    node-gyp-build hostid runlevel findmnt lsns
    """
)

# They read the files they are given and show them.
READERS = names(
    """
    cat head tail more wc nl tac rev cut paste join comm uniq tr grep egrep fgrep zgrep bzgrep
    xzgrep ls dir vdir stat file du df diff cmp colordiff sdiff diff3 md5sum sha1sum sha224sum
    sha256sum sha384sum sha512sum b2sum cksum sum shasum md5 od hexdump hd strings base64 base32
    column fold fmt pr expand unexpand tsort look iconv jq yq xmllint bat batcat exa eza cloc
    tokei scc nm objdump readelf size ldd basename dirname realpath readlink tree lsof zcat
    bzcat xzcat gzcat zless zmore zdiff less most glow mdcat csvcut csvlook csvgrep csvstat
    jless fx pv numfmt shuf tail cat zstdcat lz4cat identify exiftool ffprobe mediainfo
    pdftotext pdfinfo ag ack pcregrep ugrep delta difft vmstat dot asn1parse namei lsattr
    getfacl getfattr pathchk gron dasel xxh64sum xxhsum crc32  hexyl pygmentize highlight
    rg fd fdfind locate mlocate ss netstat journalctl dmesg ifconfig iwconfig arp route
    showmount blkid tload slabtop sar pidstat gcov  lcov lsb_release dpkg-query rpm-query
     envsubst tzselect cd pushd popd
    """
)

# They do the project's work: what they run is the project's own code, in the workspace.
RUNNERS = names(
    """
    make gmake ninja cmake ctest meson bazel bazelisk buck buck2 scons just task mage waf
    premake5 autoconf automake autoreconf libtool configure pkg-config npm pnpm yarn bun tsc tsx
    ts-node eslint prettier biome jest vitest mocha ava karma cypress playwright webpack vite
    rollup esbuild parcel swc babel next nuxt astro svelte-kit ng vue-cli turbo nx lerna
    stylelint oxlint rspec minitest storybook c8 nyc nodemon standard xo size-limit pytest
    py.test tox nox mypy pyright ruff black isort flake8 pylint bandit pyflakes pycodestyle
    pydocstyle autopep8 yapf coverage pre-commit hatch flit pdm pipenv poetry uv rye conda mamba
    sphinx-build mkdocs cython maturin vulture radon interrogate basedpyright ty pyre djlint
    alembic invoke fab scrapy uvicorn gunicorn hypercorn flask celery django-admin streamlit
    cargo rustc rustfmt clippy-driver cross wasm-pack trunk rust-analyzer bindgen cbindgen miri
    go gofmt goimports golangci-lint staticcheck gotestsum gopls buf protoc sqlc mockgen
    stringer dlv gcc g++ cc c++ clang clang++ clang-format clang-tidy cppcheck ld ar as strip
    ranlib nasm yasm valgrind gcov gprof perf javac java jar mvn mvnw gradle gradlew ant kotlinc
    kotlin sbt scalac scala-cli mill lein clj clojure groovy dotnet msbuild nuget fsc csc bundle
    rake rails rubocop gem rbenv standardrb sorbet srb jekyll cucumber composer phpunit pest
    phpstan psalm php-cs-fixer artisan phpcs mix elixir iex elixirc rebar3 erlc dialyzer gleam
    swift swiftc swiftlint swiftformat xcodebuild xcrun zig zls nim nimble crystal shards dart
    flutter pub dune opam ocamlc ocamlopt ghc cabal stack hlint ormolu purs spago elm elm-test
    julia Rscript R stan octave gfortran fpm shellcheck shfmt bats hadolint actionlint yamllint
    markdownlint markdownlint-cli2 vale codespell cspell typos ansible-lint tflint tfsec checkov
    helm-docs kubeconform kubeval conftest opa jsonlint ajv taplo sqlfluff htmlhint csslint
    lighthouse pa11y commitlint   hyperfine ab wrk k6 locust
    vegeta benchstat latex pdflatex xelatex lualatex latexmk bibtex biber pandoc asciidoctor
    typst hugo jekyll gitbook mdbook doxygen javadoc typedoc jsdoc  plantuml mmdc
    convert magick inkscape optipng svgo ffmpeg sox cwebp gs qpdf pdfunite wkhtmltopdf
    import-linter lint-imports deptry pip-compile pip-sync pip-audit  safety gitleaks
    detect-secrets trufflehog trivy grype syft osv-scanner snyk semgrep ast-grep sg comby direnv
    mise asdf volta fnm nvm rtx rustup pyenv nodenv sdk corepack watchman watchexec entr
    overmind foreman honcho  tmuxp code cursor subl idea  qemu-system-x86_64
    verilator iverilog yosys forge cast anvil hardhat truffle solc slither  siding
    dvc mlflow wandb jupyter nbconvert papermill  msgfmt msgmerge xgettext gettext
     bison flex yacc lex re2c gperf  ragel swig envdir dotenv  checkmake
    markdown rst2html docutils pyinstaller nuitka vsce
    """
)
