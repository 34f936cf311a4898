"""What would this line of shell do? Other packages import `siding.shellguard.face` alone."""
