from signet.cli.main import main

main()
